// The codec in the README of the client, which preserves the digits of numbers; a test compares the README with it.

import { LosslessNumber, parse, stringify } from 'lossless-json';
import type { JsonCodec } from '../../../client/src/index.ts';

/** Numbers that JavaScript would print with different digits become a `LosslessNumber`, which preserves them. */
const asNumber = (digits: string): number | LosslessNumber =>
  String(Number(digits)) === digits ? Number(digits) : new LosslessNumber(digits);

export const json: JsonCodec = {
  parse: (text) => parse(text, null, asNumber),
  stringify: (value) => stringify(value) ?? '',
};
