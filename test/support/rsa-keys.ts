// Generates only a few RSA keys in a process of the tests: generating one takes as much processor time as starting a
// service, and most tests with key sets need only different ones.

import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import { promisify } from 'node:util';

type Generate = (
  type: string,
  options: object,
) => Promise<Record<'publicKey' | 'privateKey', crypto.KeyObject>>;

/** More than a key set contains at a time. */
const KEYS = 8;

const { generateKeyPair } = crypto;
const generate = promisify(generateKeyPair) as Generate;
const pairs: ReturnType<Generate>[] = [];
let taken = 0;

const take: Generate = (type, options) => {
  if (type !== 'rsa') return generate(type, options);
  if (pairs.length < KEYS) pairs.push(generate(type, options));
  return pairs[taken++ % KEYS]!;
};

crypto.generateKeyPair = Object.assign(generateKeyPair.bind(crypto), {
  [promisify.custom]: take,
}) as unknown as typeof generateKeyPair;
syncBuiltinESMExports();
