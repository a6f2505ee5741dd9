// Fields of a submitted form, and the request body that they stand for. The body is read as in the API, with
// the same rules and errors.

import type { IncomingMessage } from 'node:http';
import { limits } from '../../domain/field.ts';
import { decodeString, NULL } from '../../domain/json/json-tree.ts';
import { type JsonText, jsonPointer, parseStrictJson } from '../../domain/json/strict-json.ts';
import { type BodyType, invalidField, refuseFields } from '../../domain/request-body.ts';
import { checkMediaType } from '../../http/request/media-type.ts';
import { decodeParameters } from '../../http/request/query.ts';
import type { Context } from '../../operations/context.ts';
import { GRACE_MS } from '../../operations/machinery/cpu-queue.ts';
import { Problem, type Violation } from '../../problem.ts';
import { editableJson } from '../markup/json.ts';

/** More than the largest user group: percent-encoding triples its text, and a form repeats the keys of its properties. */
export const MAX_FORM_BYTES = 8 * limits.bodyBytes;
/** Maximum of all fields and their names. */
export const MAX_FORM_CHARACTERS = Math.floor(MAX_FORM_BYTES / 3);
/** Bytes per field of the largest form, which has more fields than a page for the largest property schema. */
const MIN_BYTES_PER_FIELD = 128;

type Entry = readonly [name: string, text: string];

/** Fields as they were typed, so that a form with errors can be shown again. */
export class Form {
  readonly entries: readonly Entry[];
  readonly #byName: ReadonlyMap<string, readonly Entry[]>;
  /** Why the form was rejected; undefined if it was not. */
  readonly problem: Problem | undefined;

  /**
   * Throws `unsupported_media_type` for anything but a URL-encoded form, `invalid_request` for more fields
   * than any page has, and `body_too_large` for more text. URLSearchParams takes up to 150 ms per MiB.
   */
  static read(message: IncomingMessage, bytes: Buffer, maxBytes: number): Form {
    checkMediaType(message, ['application/x-www-form-urlencoded']);
    // Replacing a million of them in the text would take twenty times as long.
    for (let at = 0; at < bytes.length; at++) if (bytes[at] === PLUS) bytes[at] = SPACE;
    const form = new Form(decodeParameters(bytes.toString(), 'A form', maxBytes / MIN_BYTES_PER_FIELD));
    if (form.size <= MAX_FORM_CHARACTERS) return form;
    throw new Problem('body_too_large', `A form must have at most ${MAX_FORM_CHARACTERS} characters.`);
  }

  constructor(entries: Iterable<Entry>, problem?: Problem) {
    this.entries = [...entries];
    this.#byName = Map.groupBy(this.entries, ([name]) => name);
    this.problem = problem;
  }

  /** Returns the same form, to be shown again with the reason. */
  rejected(problem: Problem | undefined): Form {
    return new Form(this.entries, problem);
  }

  field(name: string): { name: string; value: string; problem: Problem | undefined } {
    return { name, value: this.text(name), problem: this.problem };
  }

  /** Returns an empty text if the field is absent. Replaces CR LF, which browsers send as line breaks. */
  text(name: string): string {
    return (this.#byName.get(name)?.[0]?.[1] ?? '').replaceAll('\r\n', '\n');
  }

  texts(name: string): string[] {
    return (this.#byName.get(name) ?? []).map(([, text]) => text);
  }

  /** Characters of all fields, with their names. */
  get size(): number {
    return this.entries.reduce((size, [name, text]) => size + name.length + text.length, 0);
  }

  has(name: string): boolean {
    return this.#byName.has(name);
  }

  /** Returns undefined for an empty text. Throws `invalid_request` for one that is not among the choices. */
  choice<const Choice extends string>(name: string, choices: readonly Choice[]): Choice | undefined {
    const text = this.text(name);
    if (text === '') return undefined;
    const choice = choices.find((each) => each === text);
    if (choice !== undefined) return choice;
    throw invalidField(`/${name}`, `must be one of ${choices.join(', ')}`);
  }
}

/** Removes what is copied along with a text around it: white space, and invisible characters that chats add. */
export function trimmed(text: string): string {
  return text.replace(/^[\s\p{Cf}]+|[\s\p{Cf}]+$/gu, '');
}

const PLUS = 0x2b;
const SPACE = 0x20;

/** Members of a body: JSON, or the violations in a text that is not JSON. Undefined ones are left out. */
export type Members = Readonly<Record<string, string | readonly Violation[] | undefined>>;

/**
 * Reads the members of the body from the fields with their names; `toMembers` has the others. Throws `invalid_request`
 * with all errors of the form, `unknown_field`, and `body_too_large` as the API does.
 */
export async function readForm<Body>(
  { cpu }: Pick<Context, 'cpu'>,
  form: Form,
  type: BodyType<Body>,
  toMembers: (form: Form) => Members = () => ({}),
): Promise<Body> {
  await cpu.turn(form.size, GRACE_MS);
  const read = kindsOf(type).map(([name, kind]) => [name, readers[kind](form, name)]);
  const members = Object.entries({ ...Object.fromEntries(read), ...toMembers(form) } as Members);
  const texts = members.filter(([, value]) => typeof value === 'string');
  const invalid = members.flatMap(([name, value]) => (Array.isArray(value) ? [{ name, errors: value }] : []));
  const body = formBody(`{${texts.map(([name, value]) => `${JSON.stringify(name)}:${value}`)}}`);
  await cpu.turn(body.length, GRACE_MS);
  if (invalid.length > 0) {
    const isAnother = ({ pointer }: Violation) =>
      invalid.every(({ name }) => !`${pointer}/`.startsWith(`/${name}/`));
    refuseFields([
      ...invalid.flatMap(({ errors }) => errors),
      ...(await findViolations(async () => type.read(body))).filter(isAnother),
    ]);
  }
  return type.read(body);
}

/** Returns the bytes of the body that a form stands for. Throws `body_too_large`. */
export function formBody(text: string, maxBytes: number = limits.bodyBytes): Buffer {
  const body = Buffer.from(text);
  if (body.length > maxBytes)
    throw new Problem('body_too_large', `Nothing was done: what you typed exceeds ${maxBytes} bytes.`);
  return body;
}

export async function findViolations(read: () => Promise<unknown>): Promise<readonly Violation[]> {
  try {
    await read();
    return [];
  } catch (error) {
    if (error instanceof Problem && error.errors.length > 0) return error.errors;
    throw error;
  }
}

/** Returns the members of a stored body as a person types them into its form; a boolean that is false has no field. */
export function typedFields(
  type: BodyType<unknown>,
  stored: Readonly<Record<string, JsonText>>,
): Record<string, string> {
  const fields = kindsOf(type).map(([name, kind]) => [name, typedText(kind, stored[name])]);
  return Object.fromEntries(fields.filter(([, text]) => text !== undefined));
}

function typedText(kind: Kind, stored = NULL): string | undefined {
  if (kind === 'boolean') return stored === 'true' ? 'on' : undefined;
  if (stored === NULL) return '';
  return stored[0] === '"' ? decodeString(stored) : editableJson(stored);
}

/** How a field is read, by the type of its member in the schema of the body. */
const readers = {
  string: textMember,
  integer: numberMember,
  boolean: (form: Form, name: string) => String(form.has(name)),
  object: jsonMember,
} as const;
type Kind = keyof typeof readers;

/** Returns the members that are read from one field: all but lists. A member of several types is read as the first one. */
function kindsOf({ schema }: BodyType<unknown>): [name: string, kind: Kind][] {
  const members = Object.entries(schema!.properties as Record<string, { type: string | readonly string[] }>);
  return members.flatMap(([name, { type }]) => {
    const kind = [type].flat()[0]!;
    return kind in readers ? [[name, kind as Kind]] : [];
  });
}

export function textMember(form: Form, name: string): string | undefined {
  const text = form.text(name);
  return text === '' ? undefined : JSON.stringify(text);
}

/** Sends a text that is not an integer unchanged, so that the API says what it must be. */
export function numberMember(form: Form, name: string): string | undefined {
  const text = form.text(name).trim();
  return /^-?(?:0|[1-9]\d*)$/.test(text) ? text : textMember(form, name);
}

/** Returns the JSON as typed or, unless it is exactly one value, violations with their place in the field. */
export function jsonMember(form: Form, name: string): string | readonly Violation[] | undefined {
  const violations: Violation[] = [];
  const text = parseTypedJson(form.text(name), [name], violations);
  return violations.length > 0 ? violations : (text ?? undefined);
}

/**
 * Returns the exact text of typed JSON; null if empty or invalid. Adds violations, with pointers below
 * `path`. Throws `body_too_large`.
 */
export function parseTypedJson(
  typed: string,
  path: readonly string[],
  violations: Violation[],
): JsonText | null {
  if (typed.trim() === '') return null;
  const bytes = formBody(typed);
  try {
    parseStrictJson(bytes, limits.propertiesLevels);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    const at = jsonPointer(path);
    violations.push(...error.errors.map(({ pointer, detail }) => ({ pointer: at + pointer, detail })));
    return null;
  }
  // Only members of an object keep their exact text.
  const { members } = parseStrictJson(Buffer.from(`{"":${typed}}`), limits.propertiesLevels + 1);
  return members.get('')!;
}
