// Compares the verdicts of property schemas with those of python3-jsonschema, on the test cases of a folder.

import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import type { JsonText } from '../src/domain/json/strict-json.ts';
import {
  PropertySchemaInvalid,
  PropertyValidator,
} from '../src/operations/property-schema/validator/validator.ts';

const SCRIPT = join(import.meta.dirname, 'json-schema.py');
const TENANT = 1;
const MAX_OUTPUT_BYTES = 100_000_000;

interface SchemaCase {
  file: string;
  description: string;
  schema: JsonText;
  tests: readonly {
    description: string;
    data: JsonText;
    /** Verdict that the folder expects. */
    valid: boolean;
    /** Verdict of python3-jsonschema; the name of an error if it cannot use the schema. */
    verdict: boolean | string;
  }[];
}

/** A test on which the two disagree. */
export interface Difference {
  /** Names of the file, schema and test. */
  name: string;
  ours: boolean | string;
  theirs: boolean | string;
  expected: boolean;
}

interface Comparison {
  schemas: number;
  tests: number;
  same: number;
  /** Tests of schemas that the service refuses to store, by reason. */
  rejected: Record<string, number>;
  /** Tests for which python3-jsonschema reports an error. */
  unjudged: number;
  differences: readonly Difference[];
}

/** Returns a Python that has jsonschema (Debian: python3-jsonschema); undefined if there is none. */
export function findPython(): string | undefined {
  return ['/usr/bin/python3', 'python3'].find(
    (name) => spawnSync(name, ['-c', 'from jsonschema import Draft202012Validator']).status === 0,
  );
}

/** `folder` is in the format of the JSON Schema Test Suite. */
export async function compareVerdicts(folder: string, python: string): Promise<Comparison> {
  const cases = readCases(folder, python);
  await using validator = new PropertyValidator();
  const judged = cases.flatMap(({ tests }) => tests);
  const rejected: Record<string, number> = {};
  const differences: Difference[] = [];
  let unjudged = 0;
  for (const { file, description, schema, tests } of cases) {
    const reason = await whyRejected(validator, schema);
    if (reason !== null) rejected[reason] = (rejected[reason] ?? 0) + tests.length;
    else {
      for (const test of tests) {
        const ours = await verdictOf(validator, schema, test.data);
        const name = `${file}: ${description}: ${test.description}`;
        if (typeof test.verdict === 'string') unjudged++;
        else if (ours !== test.verdict)
          differences.push({ name, ours, theirs: test.verdict, expected: test.valid });
      }
    }
  }
  const sum = Object.values(rejected).reduce((total, count) => total + count, 0);
  const same = judged.length - sum - unjudged - differences.length;
  return { schemas: cases.length, tests: judged.length, same, rejected, unjudged, differences };
}

function readCases(folder: string, python: string): SchemaCase[] {
  const { status, stdout, stderr } = spawnSync(python, [SCRIPT, folder], {
    encoding: 'utf8',
    maxBuffer: MAX_OUTPUT_BYTES,
  });
  if (status !== 0) throw new Error(`python3-jsonschema failed: ${stderr}`);
  return stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
}

/** Returns why the service refuses to store the schema; null if it stores it. */
async function whyRejected(validator: PropertyValidator, schema: JsonText): Promise<string | null> {
  try {
    await validator.compile(TENANT, schema);
    return null;
  } catch (error) {
    if (!(error instanceof PropertySchemaInvalid)) throw error;
    return error.message;
  }
}

async function verdictOf(
  validator: PropertyValidator,
  schema: JsonText,
  data: JsonText,
): Promise<boolean | string> {
  try {
    const [faults] = await validator.check(TENANT, schema, [data]);
    return faults!.length === 0;
  } catch (error) {
    if (!(error instanceof PropertySchemaInvalid)) throw error;
    return error.message;
  }
}
