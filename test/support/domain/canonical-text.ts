import { type JsonText, parseStrictJson } from '../../../src/domain/json/strict-json.ts';

const MAX_LEVELS = 100;

/** Returns JSON as the service stores it. */
export function canonicalText(json: string): JsonText {
  return parseStrictJson(Buffer.from(`{"value":${json}}`), MAX_LEVELS).members.get('value')!;
}
