import {
  decodeString,
  JsonArray,
  JsonObject,
  type JsonTree,
  NULL,
  objectText,
  parseTree,
  treeText,
} from '../domain/json/json-tree.ts';
import type { JsonText } from '../domain/json/strict-json.ts';
import { ServiceRefused } from './exit-code.ts';

/**
 * An object in a response of a running service. Its members are read as the types that the API promises: a
 * method throws `ServiceRefused` if the member is missing or of another type.
 */
export class ServiceObject {
  readonly #members: ReadonlyMap<string, JsonText>;

  constructor(members: ReadonlyMap<string, JsonText>) {
    this.#members = members;
  }

  get json(): JsonText {
    return objectText(this.#members);
  }

  text(name: string): JsonText {
    return this.#members.get(name) ?? refuse(name);
  }

  /** Returns null also if the member is missing. */
  textOrNull(name: string): JsonText | null {
    const text = this.#members.get(name) ?? NULL;
    return text === NULL ? null : text;
  }

  string(name: string): string {
    const value = this.#value(name);
    return typeof value === 'string' ? value : refuse(name);
  }

  /** Returns null also if the member is missing. */
  stringOrNull(name: string): string | null {
    return this.textOrNull(name) === null ? null : this.string(name);
  }

  number(name: string): number {
    const value = this.#value(name);
    return typeof value === 'number' ? value : refuse(name);
  }

  boolean(name: string): boolean {
    const value = this.#value(name);
    return typeof value === 'boolean' ? value : refuse(name);
  }

  oneOf<Value extends string>(name: string, values: readonly Value[]): Value {
    const text = this.string(name);
    return values.find((each) => each === text) ?? refuse(name);
  }

  object(name: string): ServiceObject {
    return objectOf(parseTree(this.text(name)), name);
  }

  objects(name: string): ServiceObject[] {
    const tree = parseTree(this.text(name));
    return tree instanceof JsonArray ? tree.elements.map((each) => objectOf(each, name)) : refuse(name);
  }

  get names(): string[] {
    return [...this.#members.keys()];
  }

  #value(name: string): unknown {
    return JSON.parse(this.text(name));
  }
}

function objectOf(tree: JsonTree, name: string): ServiceObject {
  if (!(tree instanceof JsonObject)) return refuse(name);
  return new ServiceObject(
    new Map(Array.from(tree.members, ([key, member]) => [decodeString(key), treeText(member)])),
  );
}

function refuse(name: string): never {
  throw new ServiceRefused(
    `the service responded without a valid ${name}: is it of the same version as this program?`,
  );
}
