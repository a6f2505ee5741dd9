// The query of a URL: parameters in, validated values out. Rejects unknown, duplicate and undecodable
// parameters, which lenient decoders ignore.

import * as field from '../../domain/field.ts';
import { valueCheck } from '../../domain/request-body.ts';
import { defaultsOf, type Schema, type SchemaMembers } from '../../domain/schema-value.ts';
import { suggestField } from '../../domain/suggest.ts';
import { truncate } from '../../domain/truncate.ts';
import { Problem } from '../../problem.ts';

/** The schemas of parameters, and the conversion of a URL's query to the value that an operation accepts. */
export interface QueryType<Query> {
  readonly parameters: Readonly<Record<string, Schema>>;
  readonly read: (url: string) => Query;
}

export const noQuery: QueryType<null> = {
  parameters: {},
  read: (url) => {
    if (encodedQuery(url) === '') return null;
    throw invalid('This endpoint accepts no query parameters: send fields in the body.');
  },
};

export function queryType<
  Query,
  const Parameters extends Record<string, Schema & { type: string }>,
>(definition: {
  parameters: Parameters;
  convert: (values: SchemaMembers<Parameters>) => Query;
}): QueryType<Query> {
  const { parameters, convert } = definition;
  const addDefaults = defaultsOf(parameters);
  const checks = new Map(
    Object.entries(parameters).map(([name, schema]) => [name, { schema, check: valueCheck(schema) }]),
  );
  const read = (url: string): Query => {
    const values: Record<string, unknown> = {};
    for (const [name, text] of encodedParameters(encodedQuery(url), WHERE)) {
      const parameter = checks.get(name);
      if (parameter === undefined) {
        throw invalid(
          `"${truncate(name)}" is not a parameter of this endpoint${suggestField(name, [...checks.keys()])}.`,
        );
      }
      if (name in values) throw invalid(`Duplicate parameter ${name}.`);
      const value = parse(parameter.schema.type, text);
      const violation = parameter.check(value);
      const isSpace = parameter.schema.format === 'date-time' && text.includes('+');
      const hint = isSpace ? ', with a + percent-encoded as %2B' : '';
      if (violation !== null) throw invalid(`The parameter ${name} ${violation}${hint}.`);
      values[name] = value;
    }
    addDefaults(values);
    // The only cast: each value has passed the check of the schema that its type comes from.
    return convert(values as SchemaMembers<Parameters>);
  };
  return { parameters, read };
}

export const pageParameters = {
  limit: { ...field.pageLimit, description: 'Maximum number of entries per page.' },
  cursor: field.cursor,
};

export const pageQuery = queryType({ parameters: pageParameters, convert: (values) => values });

/** Returns the query without `?`; empty if there is none. Throws `invalid_request` if there is a fragment. */
export function encodedQuery(url: string): string {
  if (url.includes('#'))
    throw invalid('The URL of a request must not have a fragment: percent-encode # as %23.');
  const start = url.indexOf('?');
  return start === -1 ? '' : url.slice(start + 1);
}

/** Decodes application/x-www-form-urlencoded. Throws `invalid_request`, whose detail names `where`. */
export function decodeParameters(
  encoded: string,
  where: string,
  maxParameters?: number,
): [name: string, text: string][] {
  return encodedParameters(encoded, where, maxParameters).map(([name, text]) => [name, decode(text, where)]);
}

const WHERE = 'The query of the URL';

/** More than any client sends: decoding as many as fit into a body would take most of a second. */
const MAX_PARAMETERS = 1_000;

/** Returns the parameters with decoded names and encoded values. */
function encodedParameters(
  encoded: string,
  where: string,
  maxParameters = MAX_PARAMETERS,
): [name: string, encodedText: string][] {
  if (encoded === '') return [];
  const parts = encoded.split('&', maxParameters + 1);
  if (parts.length > maxParameters) throw invalid(`${where} must have at most ${maxParameters} parameters.`);
  return parts.map((part) => {
    const [name = ''] = part.split('=', 1);
    return [decode(name, where), part.slice(name.length + 1)];
  });
}

function decode(text: string, where: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    throw invalid(`${where} must be percent-encoded UTF-8.`);
  }
}

/** Leaves text of another type as text, which the schema rejects. Commas within list elements are encoded. */
function parse(type: string, encoded: string): string | number | boolean | string[] {
  if (type === 'array') return encoded.split(',').map((element) => decode(element, WHERE));
  const text = decode(encoded, WHERE);
  if (type === 'integer' && /^(?:0|-?[1-9]\d{0,15})$/.test(text)) return Number(text);
  return type === 'boolean' && (text === 'true' || text === 'false') ? text === 'true' : text;
}

function invalid(detail: string): Problem {
  return new Problem('invalid_request', detail);
}
