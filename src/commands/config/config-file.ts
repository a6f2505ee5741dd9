// Reads and writes files of configurations, as YAML or JSON. Numbers keep every digit, and secrets come from
// the environment or from files of their own.

import { isUtf8 } from 'node:buffer';
import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import {
  type Alias,
  Document,
  type ErrorCode,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type ParsedNode,
  parseAllDocuments,
  type Scalar,
  type ScalarTag,
  type YAMLMap,
} from 'yaml';
import {
  decodeString,
  JsonArray,
  JsonObject,
  type JsonTree,
  jsonText,
  namedMembers,
  objectText,
  parseTree,
  splitMembers,
} from '../../domain/json/json-tree.ts';
import { type JsonText, ONLY_NUMBER } from '../../domain/json/strict-json.ts';
import { DataError, explainReadError } from '../exit-code.ts';
import { escapeControls } from '../terminal/terminal-text.ts';

/** Replaces messages that quote the file, because the quoted text may be a secret. */
const QUOTING_ERRORS: Partial<Record<ErrorCode, string>> = {
  BAD_DIRECTIVE: 'Unknown directive',
  BAD_DQ_ESCAPE: 'Invalid escape sequence',
  TAG_RESOLVE_FAILED: 'Unresolved tag',
  UNEXPECTED_TOKEN: 'Unexpected text',
};
/** More than all documents of an environment together may have. */
const MAX_BYTES = 16 * 1024 * 1024;
const MAX_LEVELS = 64;
/** Size of a node in addition to its text. */
const NODE_BYTES = 8;

/** Reads `-` from standard input. Throws `NotFound`, `UsageError` and `DataError`. */
export function readConfigFile(path: string): JsonText {
  let bytes: Buffer;
  try {
    bytes = readFileSync(path === '-' ? 0 : path);
  } catch (error) {
    explainReadError(error, path);
  }
  if (bytes.length > MAX_BYTES) throw new DataError(`${path} has more than ${MAX_BYTES} bytes`);
  if (!isUtf8(bytes)) throw new DataError(`${path} is not UTF-8: save it in this encoding`);
  return withSecrets(yamlToJson(bytes.toString()), path === '-' ? '.' : dirname(path));
}

/** Converts YAML to JSON. JSON is YAML, so both are read alike. Throws `DataError`. */
export function yamlToJson(text: string): JsonText {
  const lineCounter = new LineCounter();
  const documents = parseAllDocuments(text, {
    schema: 'core',
    version: '1.2',
    // JSON has no form of !!binary, !!set and the like.
    resolveKnownTags: false,
    lineCounter,
    // A pretty error ends with the line, which may be a secret.
    prettyErrors: false,
  });
  const [document, ...more] = documents;
  if (document === undefined || !('contents' in document) || document.contents === null)
    throw new DataError('the file is empty');
  if (more.length > 0) throw new DataError('the file must have one document, and has several');
  const [error] = [...document.errors, ...document.warnings];
  if (error !== undefined) {
    const { code, message, pos } = error;
    throw notYaml(QUOTING_ERRORS[code] ?? message, lineCounter, pos[0]);
  }
  return new Converter(document, lineCounter).nodeJson(document.contents as ParsedNode, 0);
}

function notYaml(reason: string, lines: LineCounter, offset: number): DataError {
  const { line, col } = lines.linePos(offset);
  return new DataError(`the file is not valid YAML: ${reason} at line ${line}, column ${col}`);
}

class Converter {
  readonly #document: Document.Parsed;
  readonly #lines: LineCounter;
  readonly #resolved = new Map<Alias.Parsed, ParsedNode>();
  /** Counted because aliases can make a small file large. */
  #bytes = 0;

  constructor(document: Document.Parsed, lines: LineCounter) {
    this.#document = document;
    this.#lines = lines;
  }

  nodeJson(node: ParsedNode | null, level: number): JsonText {
    if (level > MAX_LEVELS) throw new DataError(`the file has more than ${MAX_LEVELS} levels`);
    this.#count(NODE_BYTES);
    if (isMap(node)) return this.#mapText(node, level);
    if (isSeq(node)) {
      const elements = node.items.map((each) => this.nodeJson(each as ParsedNode, level + 1));
      return `[${elements.join(',')}]` as JsonText;
    }
    if (isAlias(node)) return this.nodeJson(this.#resolve(node), level + 1);
    const text = isScalar(node) ? this.#scalarText(node) : 'null';
    this.#count(Buffer.byteLength(text));
    return text as JsonText;
  }

  /** Resolves each alias once, because that searches the whole document. */
  #resolve(alias: Alias.Parsed): ParsedNode {
    const resolved = this.#resolved.get(alias) ?? (alias.resolve(this.#document) as ParsedNode | undefined);
    if (resolved === undefined) throw this.#notYaml('Unresolved alias', alias);
    this.#resolved.set(alias, resolved);
    return resolved;
  }

  #mapText(map: YAMLMap, level: number): JsonText {
    const names = new Set<string>();
    return objectText(
      map.items.map(({ key, value }) => {
        // An id such as 40 needs no quotes.
        if (!isScalar(key)) throw this.#notYaml('A key is not a text', key as ParsedNode);
        // YAML 1.2 has no merge keys, and other parsers would insert the members.
        if (key.value === '<<' && key.type === 'PLAIN')
          throw this.#notYaml('Merge keys (<<) are not supported', key as ParsedNode);
        const name = typeof key.value === 'string' ? key.value : (key.source ?? '');
        // Two keys of YAML, such as 40 and "40", can be one name of JSON.
        if (names.has(name)) throw this.#notYaml('Duplicate key', key as ParsedNode);
        names.add(name);
        return [name, this.nodeJson(value as ParsedNode | null, level + 1)] as const;
      }),
    );
  }

  #scalarText({ value, source = '', range }: Scalar.Parsed): string {
    if (typeof value !== 'number') return JSON.stringify(value);
    if (!/\d/.test(source)) throw this.#notYaml(`${source} is not a number of JSON`, { range });
    if (/^0[ox]/.test(source)) return String(BigInt(source));
    // Probably a text, such as a postal code; YAML 1.1 reads an octal number.
    if (/^[-+]?0\d/.test(source))
      throw this.#notYaml('A number has leading zeros: quote it, or omit them', { range });
    return decimalText(source);
  }

  #notYaml(reason: string, { range }: Pick<ParsedNode, 'range'>): DataError {
    return notYaml(reason, this.#lines, range[0]);
  }

  #count(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes > MAX_BYTES) throw new DataError(`the file has more than ${MAX_BYTES} bytes`);
  }
}

/** Writes the same digits as a number of JSON, which has no plus sign or bare decimal point. */
function decimalText(source: string): string {
  const [, sign = '', whole = '', rest = ''] = /^([-+]?)(\d*)(.*)$/.exec(source)!;
  return `${sign === '-' ? '-' : ''}${whole || '0'}${rest.replace(/\.(?!\d)/, '')}`;
}

/** Inserts the secrets that the configuration refers to. Throws `DataError`. */
function withSecrets(config: JsonText, folder: string): JsonText {
  if (config[0] !== '{') throw new DataError('the file must be an object with the member version');
  const withSecret = (id: string, integration: JsonText) =>
    mapMembers(integration, (name, value) => (name === 'secret' ? readSecret(id, value, folder) : value));
  return mapMembers(config, (name, value) =>
    name === 'integrations' ? mapMembers(value, withSecret) : value,
  );
}

/** Returns anything but an object unchanged. */
function mapMembers(text: JsonText, change: (name: string, value: JsonText) => JsonText): JsonText {
  if (text[0] !== '{') return text;
  return objectText(namedMembers(text).map(([name, value]) => [name, change(name, value)] as const));
}

function readSecret(id: string, reference: JsonText, folder: string): JsonText {
  const place = `the secret of the integration ${id}`;
  const { environment, file } = (JSON.parse(reference) ?? {}) as { environment?: unknown; file?: unknown };
  const members = reference[0] === '{' ? splitMembers(reference).size : 0;
  if (members !== 1 || (typeof environment !== 'string' && typeof file !== 'string'))
    throw new DataError(
      `${place} must not be in the file: write {"environment": "NAME"} or {"file": "PATH"}, which contain it`,
    );
  if (typeof environment === 'string') {
    const secret = process.env[environment];
    if (secret) return jsonText(secret);
    throw new DataError(
      `${place} is missing: set the environment variable ${environment}, or omit the member to keep the stored one`,
    );
  }
  try {
    return jsonText(readFileSync(resolve(folder, file as string), 'utf8').trimEnd());
  } catch (error) {
    throw new DataError(`${place} cannot be read: ${(error as Error).message}`);
  }
}

/** Text of a scalar that is written without change. */
class Verbatim {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

const verbatimTag: ScalarTag = {
  tag: 'tag:yaml.org,2002:str',
  default: true,
  identify: (value) => value instanceof Verbatim,
  resolve: (text) => text,
  stringify: ({ value }) => (value as Verbatim).text,
};

/** Writes YAML with the members in the same order. */
export function toYaml(text: JsonText): string {
  const options = {
    customTags: [verbatimTag] as ScalarTag[],
    aliasDuplicateObjects: false,
    compat: 'yaml-1.1',
  } as const;
  return new Document(yamlNode(parseTree(text)), options).toString({
    lineWidth: 0,
    doubleQuotedAsJSON: true,
  });
}

function yamlNode(tree: JsonTree): unknown {
  if (tree instanceof JsonObject)
    return new Map(
      Array.from(tree.members, ([key, member]) => [yamlText(decodeString(key)), yamlNode(member)]),
    );
  if (tree instanceof JsonArray) return tree.elements.map(yamlNode);
  if (ONLY_NUMBER.test(tree)) return new Verbatim(tree);
  const value: unknown = JSON.parse(tree);
  return typeof value === 'string' ? yamlText(value) : value;
}

/**
 * Quotes texts that YAML 1.2 allows without quotes and parsers of YAML 1.1 refuse or read differently, and
 * lines of spaces, which a block would lose.
 */
function yamlText(text: string): string | Verbatim {
  const isRead = /\S/.test(text) && text !== '=' && !text.includes('\t') && escapeControls(text) === text;
  return isRead ? text : new Verbatim(escapeControls(JSON.stringify(text)));
}
