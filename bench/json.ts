// The cost of strict parsing: compares the parser of request bodies with JSON.parse, which rounds numbers and keeps the
// last of two duplicate keys, and with other parsers that preserve digits. All of them start from bytes.

import { printTable } from '../src/commands/output.ts';
import { parseStrictJson } from '../src/domain/json/strict-json.ts';
import { median } from './median.ts';
import { userGroup } from './operation.ts';

const ROUNDS = 7;
const ROUND_MS = 150;
const MAX_DEPTH = 17;

type Parse = (bytes: Buffer) => unknown;

const bodies: Record<string, string> = {
  lookup: '{"name":"Customer 1","user_group_id":"customer-1"}',
  'all fields': userGroup('1'),
  'many short values': bodyWith(40),
  'long texts': bodyWith(90, 600),
};

export async function compareParsers(): Promise<void> {
  const parsers: Record<string, Parse> = {
    'JSON.parse': (bytes) => JSON.parse(bytes.toString()),
    parseStrictJson: (bytes) => parseStrictJson(bytes, MAX_DEPTH),
    'JSON.parse, rawJSON in a reviver': (bytes) => JSON.parse(bytes.toString(), keepDigits),
    ...(await losslessJson()),
  };
  const names = Object.keys(bodies);
  const rows = Object.entries(parsers).map(([name, parse]) => [
    name,
    ...Object.values(bodies).map((body) => microseconds(parse, Buffer.from(body)).toFixed(1)),
  ]);
  printTable(['microseconds a body', ...names.map((name) => `${name} (${bodies[name]!.length} B)`)], rows);
}

function microseconds(parse: Parse, bytes: Buffer): number {
  const rounds = Array.from({ length: ROUNDS }, () => {
    const startedAt = performance.now();
    let count = 0;
    for (; performance.now() < startedAt + ROUND_MS; count++) parse(bytes);
    return ((performance.now() - startedAt) * 1_000) / count;
  });
  return median(rounds);
}

function keepDigits(_key: string, value: unknown, context?: { source?: string }): unknown {
  return typeof value === 'number' ? (JSON as unknown as RawJson).rawJSON(context!.source!) : value;
}

/** Not in the TypeScript library yet. */
interface RawJson {
  rawJSON(source: string): unknown;
}

/** Only compared if installed: `npm install --no-save lossless-json`. */
async function losslessJson(): Promise<Record<string, Parse>> {
  const specifier = 'lossless-json';
  try {
    const { parse } = (await import(specifier)) as { parse: (text: string) => unknown };
    return { 'lossless-json': (bytes) => parse(bytes.toString()) };
  } catch {
    return {};
  }
}

function bodyWith(properties: number, length = 60): string {
  const entries = Array.from({ length: properties }, (_, index) =>
    index % 2 === 0
      ? [`property_${index}`, 'ä value, as dashboards have it, '.repeat(length).slice(0, length)]
      : [`property_${index}`, { amount: 1234.5 + index, tags: ['a', 'b', null], isActive: true }],
  );
  return JSON.stringify({ user_group_id: 'customer-1', properties: Object.fromEntries(entries) });
}
