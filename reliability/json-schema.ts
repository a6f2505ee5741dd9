// Compares the verdicts of property schemas with those that the JSON Schema Test Suite expects.

import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, stringify } from 'lossless-json';
import type { JsonText } from '../src/domain/json/strict-json.ts';
import {
  PropertySchemaInvalid,
  PropertyValidator,
} from '../src/operations/property-schema/validator/validator.ts';
import { Problem } from '../src/problem.ts';
import { eventually } from '../test/support/process.ts';

const TENANT = 1;
/**
 * Optional parts of the suite that differ from JSON Schema 2020-12 by default: `format` only annotates, and
 * `dependencies` is a keyword of earlier versions.
 */
const LEFT_OUT = ['optional/format*', 'optional/format/*', 'optional/dependencies-compatibility.json'];

interface SchemaCase {
  description: string;
  schema: unknown;
  tests: readonly { description: string; data: unknown; valid: boolean }[];
}

interface Verdicts {
  /** Tests with the expected verdict. */
  same: number;
  /** Tests of schemas that the service refuses to store, by reason. */
  rejected: Record<string, number>;
  /** Names of the other tests. */
  different: string[];
}

/** `folder` contains the tests of one dialect. Throws if there are none. */
export async function judgeSuite(folder: string): Promise<Verdicts> {
  await using validator = new PropertyValidator();
  const verdicts: Verdicts = { same: 0, rejected: {}, different: [] };
  for (const file of globSync('**/*.json', { cwd: folder, exclude: LEFT_OUT }).sort()) {
    for (const each of parse(readFileSync(join(folder, file), 'utf8')) as SchemaCase[]) {
      const schema = textOf(each.schema);
      const reason = await whyRejected(validator, schema);
      if (reason !== null) verdicts.rejected[reason] = (verdicts.rejected[reason] ?? 0) + each.tests.length;
      else
        for (const { description, data, valid } of each.tests) {
          const [faults] = await patiently(() => validator.check(TENANT, schema, [textOf(data)]));
          if ((faults!.length === 0) === valid) verdicts.same++;
          else verdicts.different.push(`${file}: ${each.description}: ${description}`);
        }
    }
  }
  if (verdicts.same + verdicts.different.length === 0) throw new Error(`${folder} contains no tests`);
  return verdicts;
}

function textOf(value: unknown): JsonText {
  return stringify(value) as JsonText;
}

/** Returns why the service refuses to store the schema; null if it stores it. */
async function whyRejected(validator: PropertyValidator, schema: JsonText): Promise<string | null> {
  try {
    await patiently(() => validator.compile(TENANT, schema));
    return null;
  } catch (error) {
    if (!(error instanceof PropertySchemaInvalid)) throw error;
    return error.message;
  }
}

/** Repeats the work while the validator is overloaded, as it is on a busy machine. */
function patiently<Result>(work: () => Promise<Result>): Promise<Result> {
  return eventually('a validator that is not overloaded', () =>
    work().catch((error) => {
      if (error instanceof Problem && error.code === 'overloaded') return null;
      throw error;
    }),
  );
}
