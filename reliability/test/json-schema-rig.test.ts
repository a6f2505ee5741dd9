// Verdicts of property schemas. `npm run rig:json-schema` evaluates the public test suite.

import assert from 'node:assert/strict';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Folder } from '../../test/support/process.ts';
import { judgeSuite } from '../json-schema.ts';

const SUITE = fileURLToPath(new URL('../../test/support/domain/json-schema/', import.meta.url));

describe('A suite of JSON Schema', () => {
  it('is judged as it expects, and any other verdict is named', async () => {
    using folder = new Folder();
    cpSync(SUITE, folder.path, { recursive: true });
    const file = folder.join('cases.json');
    const { same, different } = await judgeSuite(folder.path);
    assert.deepEqual(different, []);
    writeFileSync(file, readFileSync(file, 'utf8').replace('"valid": true', '"valid": false'));
    const changed = await judgeSuite(folder.path);
    assert.equal(changed.same, same - 1);
    assert.deepEqual(changed.different, ['cases.json: a plan and a number of seats: valid']);
  });

  it('without tests is refused', async () => {
    using folder = new Folder();
    await assert.rejects(judgeSuite(folder.path), /contains no tests/);
  });
});
