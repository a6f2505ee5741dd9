// The query of a URL: parameters in, checked values out. Strict where decoders usually are lenient: a parameter that
// is unknown, stands twice or cannot be decoded is refused, and not passed over.

import { valueCheck } from '../domain/body.ts';
import { excerpt } from '../domain/excerpt.ts';
import * as field from '../domain/field.ts';
import { nearest } from '../domain/nearest.ts';
import type { ListQuery } from '../operations/list.ts';
import { Problem } from '../problem.ts';

/** The schemas of parameters, and how the query of a URL becomes the value that an operation takes. */
export interface QueryType<Query> {
  readonly parameters: Readonly<Record<string, object>>;
  readonly read: (url: string) => Query;
}

export const noQuery: QueryType<null> = {
  parameters: {},
  read: (url) => {
    if (queryOf(url) === '') return null;
    throw invalid('This operation takes nothing in the query of the URL: fields stand in the JSON body.');
  },
};

export const listQuery: QueryType<ListQuery> = queryType({
  parameters: { limit: field.pageLimit, cursor: field.cursor, search: field.search },
  convert: (values) => ({ limit: field.pageLimit.default, ...values }),
});

function queryType<Query>(definition: {
  parameters: Record<string, { type: string }>;
  convert: (values: Record<string, unknown>) => Query;
}): QueryType<Query> {
  const { parameters, convert } = definition;
  const checks = new Map(
    Object.entries(parameters).map(([name, schema]) => [name, { schema, check: valueCheck(schema) }]),
  );
  const read = (url: string): Query => {
    const values: Record<string, unknown> = {};
    for (const [name, text] of parametersOf(queryOf(url))) {
      const parameter = checks.get(name);
      if (parameter === undefined) {
        throw invalid(
          `"${excerpt(name)}" is no parameter of this operation${nearest(name, [...checks.keys()])}.`,
        );
      }
      if (name in values) throw invalid(`The parameter ${name} must not stand twice.`);
      const value = parameter.schema.type === 'integer' ? integerOf(text) : text;
      const fault = parameter.check(value);
      if (fault !== null) throw invalid(`The parameter ${name} ${fault}.`);
      values[name] = value;
    }
    return convert(values);
  };
  return { parameters, read };
}

/** Without the question mark; empty where there is none. */
function queryOf(url: string): string {
  if (url.includes('#')) throw invalid('The URL of a request has no fragment: percent-encode # as %23.');
  const start = url.indexOf('?');
  return start === -1 ? '' : url.slice(start + 1);
}

function parametersOf(query: string): [name: string, text: string][] {
  if (query === '') return [];
  return query.split('&').map((part) => {
    const [name = '', ...text] = part.split('=');
    return [decode(name), decode(text.join('='))];
  });
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    throw invalid('The query of the URL must be UTF-8, percent-encoded.');
  }
}

function integerOf(text: string): number | string {
  return /^(?:0|-?[1-9]\d{0,14})$/.test(text) ? Number(text) : text;
}

function invalid(detail: string): Problem {
  return new Problem('invalid_request', detail);
}
