// Compiles a JSON Schema 2020-12 to a check of values. Patterns run on RE2, in linear time; references stay inside
// the schema; `format` is an annotation, the default of the specification. An interpreter, not a library that
// generates code, because callers send the schemas. See docs/decisions/0009-property-schemas-are-interpreted.md.

import { MAX_ERRORS, type Violation } from '../../problem.ts';
import { parsePointer } from '../json/strict-json.ts';
import { type Assertion, conjunction, Evaluation, type EvaluationLimits } from './evaluation.ts';
import { keywords } from './keyword.ts';
import { SchemaInvalid, type SchemaPath } from './schema-invalid.ts';
import { isObject, type ObjectValue } from './value.ts';

const DIALECT = 'https://json-schema.org/draft/2020-12/schema';
const ANCHOR = /^[A-Za-z_][\w.-]*$/;

/** A schema with an `$id`, or the whole document: the base of references and anchors. */
interface Resource {
  root: unknown;
  path: SchemaPath;
  anchors: Map<string, Place>;
  dynamicAnchors: Map<string, Place>;
}

interface Place {
  schema: unknown;
  path: SchemaPath;
  resource: Resource;
}

/** Returns the first violations of a value, each with its place in it. */
export type SchemaCheck = (value: unknown) => Violation[];

/**
 * Compiling and checking call `step` repeatedly, which may throw to stop them. Only a deadline bounds their time: call
 * them in a thread. The schema and the values must come from `parseExactly`. Throws `SchemaInvalid`.
 */
export function compileSchema(
  schema: unknown,
  { maxViolations = MAX_ERRORS, step }: { maxViolations?: number; step: () => void },
): SchemaCheck {
  const compiled = new CompiledSchema(schema, { maxViolations, step });
  return (value) => compiled.listViolations(value);
}

class CompiledSchema {
  readonly #assertion: Assertion;
  readonly #limits: EvaluationLimits;
  /** Whether a schema depends on what others have evaluated. */
  #tracks = false;
  readonly #compiled = new Map<unknown, Assertion>();
  readonly #resources = new Map<unknown, Resource>();
  /** References are resolved when all anchors are known. */
  readonly #unresolved: (() => void)[] = [];
  /** The resources of the schemas that are being evaluated, from the outermost: the dynamic scope. */
  #scope: Resource[] = [];

  constructor(schema: unknown, limits: EvaluationLimits) {
    this.#limits = limits;
    this.#assertion = this.#compile({ schema, path: [], resource: newResource(schema, []) });
    for (let resolve = this.#unresolved.pop(); resolve !== undefined; resolve = this.#unresolved.pop())
      resolve();
  }

  listViolations(value: unknown): Violation[] {
    const evaluation = new Evaluation(this.#tracks, this.#limits);
    // A stack overflow may have left resources in it.
    this.#scope = [];
    this.#assertion(value, evaluation, this.#tracks ? new Set() : null);
    return evaluation.violations;
  }

  #compile(place: Place): Assertion {
    this.#limits.step();
    const { schema, path } = place;
    if (typeof schema === 'boolean')
      return (_value, evaluation) => schema || evaluation.fail('is not allowed by the schema');
    if (!isObject(schema)) throw new SchemaInvalid(path, 'must be an object or a boolean');
    const known = this.#compiled.get(schema);
    if (known !== undefined) return known;
    const resource = this.#enter(schema, place);
    // A schema may refer to itself.
    let assertion: Assertion;
    const scoped: Assertion = (value, evaluation, evaluated) => {
      const scope = this.#scope;
      if (scope.at(-1) === resource) return assertion(value, evaluation, evaluated);
      scope.push(resource);
      try {
        return assertion(value, evaluation, evaluated);
      } finally {
        scope.pop();
      }
    };
    this.#compiled.set(schema, scoped);
    assertion = conjunction(this.#compileKeywords(schema, path, resource));
    return scoped;
  }

  /** Registers the anchors of a schema, and returns the resource that it belongs to. */
  #enter(schema: ObjectValue, { path, resource: outer }: Place): Resource {
    const { $id, $schema, $anchor, $dynamicAnchor } = schema;
    if ($schema !== undefined && $schema !== DIALECT)
      throw new SchemaInvalid([...path, '$schema'], `must be "${DIALECT}"`);
    if ($id !== undefined && typeof $id !== 'string')
      throw new SchemaInvalid([...path, '$id'], 'must be a string');
    const resource = $id === undefined || schema === outer.root ? outer : newResource(schema, path);
    this.#resources.set(schema, resource);
    const place = { schema, path, resource };
    addAnchor(resource.anchors, $anchor, place, '$anchor');
    addAnchor(resource.anchors, $dynamicAnchor, place, '$dynamicAnchor');
    addAnchor(resource.dynamicAnchors, $dynamicAnchor, place, '$dynamicAnchor');
    return resource;
  }

  #compileKeywords(schema: ObjectValue, path: SchemaPath, resource: Resource): Assertion[] {
    const assertions: Assertion[] = [];
    for (const [keyword, compile] of Object.entries(keywords)) {
      if (!Object.hasOwn(schema, keyword)) continue;
      if (keyword.startsWith('unevaluated')) this.#tracks = true;
      assertions.push(
        compile({
          value: schema[keyword],
          path: [...path, keyword],
          siblings: schema,
          subschema: (subschema, at) => this.#compile({ schema: subschema, path: at, resource }),
          reference: (text, at, isDynamic) => this.#reference(text, at, { resource, isDynamic }),
        }),
      );
    }
    return assertions;
  }

  #reference(
    text: string,
    path: SchemaPath,
    { resource, isDynamic }: { resource: Resource; isDynamic: boolean },
  ): Assertion {
    if (!text.startsWith('#'))
      throw new SchemaInvalid(path, 'must refer to a place in this schema: "#" or "#/$defs/…"');
    let target: Assertion;
    let anchor: string | null = null;
    this.#unresolved.push(() => {
      const place = this.#resolve(text, path, resource);
      target = this.#compile(place);
      const name = text.slice(1);
      if (isDynamic && resource.dynamicAnchors.get(name)?.schema === place.schema) anchor = name;
    });
    return (value, evaluation, evaluated) => {
      const outermost =
        anchor === null ? undefined : this.#scope.find(({ dynamicAnchors }) => dynamicAnchors.has(anchor!));
      const assertion =
        outermost === undefined ? target : this.#compile(outermost.dynamicAnchors.get(anchor!)!);
      return assertion(value, evaluation, evaluated);
    };
  }

  #resolve(text: string, path: SchemaPath, resource: Resource): Place {
    const fragment = decode(text.slice(1), path);
    if (fragment === '') return { schema: resource.root, path: resource.path, resource };
    if (!fragment.startsWith('/')) {
      const place = resource.anchors.get(fragment);
      if (place === undefined)
        throw new SchemaInvalid(path, `refers to an anchor that does not exist: ${fragment}`);
      return place;
    }
    let place: Place = { schema: resource.root, path: resource.path, resource };
    for (const key of parsePointer(fragment)) {
      const parent = place.schema as ObjectValue;
      if (typeof parent !== 'object' || parent === null || !Object.hasOwn(parent, key))
        throw new SchemaInvalid(path, `refers to a place that does not exist: ${text}`);
      const schema = parent[key];
      place = {
        schema,
        path: [...place.path, key],
        resource: this.#resources.get(schema) ?? place.resource,
      };
    }
    return place;
  }
}

function newResource(root: unknown, path: SchemaPath): Resource {
  return { root, path, anchors: new Map(), dynamicAnchors: new Map() };
}

function addAnchor(anchors: Map<string, Place>, name: unknown, place: Place, keyword: string): void {
  if (name === undefined) return;
  if (typeof name !== 'string' || !ANCHOR.test(name))
    throw new SchemaInvalid([...place.path, keyword], 'must be a name of letters, digits, "-", "_" and "."');
  const other = anchors.get(name);
  if (other !== undefined && other.schema !== place.schema)
    throw new SchemaInvalid([...place.path, keyword], `must be unique: ${name}`);
  anchors.set(name, place);
}

function decode(fragment: string, path: SchemaPath): string {
  try {
    return decodeURIComponent(fragment);
  } catch {
    throw new SchemaInvalid(path, 'must be a valid URI reference');
  }
}
