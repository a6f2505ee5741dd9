// Property schemas judge like python3-jsonschema. `npm run rig:json-schema -- --suite FOLDER` compares both on the JSON
// Schema Test Suite.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { compareVerdicts, findPython } from '../json-schema.ts';

/** Also evaluated in `test/domain/json-schema/json-schema.test.ts`. */
const CASES = join(import.meta.dirname, '../../test/support/domain/json-schema');
const python = findPython();

describe('A property schema', { skip: python === undefined && 'python3-jsonschema is not installed' }, () => {
  it('has the verdicts of python3-jsonschema', async () => {
    const { tests, same, differences } = await compareVerdicts(CASES, python!);
    assert.deepEqual(differences, []);
    assert.equal(same, tests);
  });
});
