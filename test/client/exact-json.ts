// How the README of the client keeps the digits of numbers; a test holds the README to it.

import { LosslessNumber, parse, stringify } from 'lossless-json';
import type { JsonCodec } from '../../client/src/index.ts';

/** Numbers that JavaScript would print in other digits become a `LosslessNumber`, which keeps them. */
const asNumber = (digits: string): number | LosslessNumber =>
  String(Number(digits)) === digits ? Number(digits) : new LosslessNumber(digits);

export const json: JsonCodec = {
  parse: (text) => parse(text, null, asNumber),
  stringify: (value) => stringify(value) ?? '',
};
