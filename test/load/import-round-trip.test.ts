// An export imported into another database gives identical groups with the same tokens.

import assert from 'node:assert/strict';
import { before, it } from 'node:test';
import fc from 'fast-check';
import type { Environment } from '../../src/domain/tenant.ts';
import { exportLines } from '../../src/operations/user-group/export.ts';
import { ensureWorkspace } from '../../src/operations/workspace/workspace.ts';
import { type DatabaseKind, describeOnEachDatabase, postgres, sqlite } from '../support/database.ts';
import { codePoint } from '../support/domain/code-point.ts';
import { TestService } from '../support/service.ts';
import { suiteStack } from '../support/suite.ts';

interface Group {
  id: string;
  name: string;
  mapping: string;
  properties: string;
  /** Null if the service issues the token. */
  token: string | null;
  isRotated: boolean;
}

const text = fc
  .string({ unit: 'grapheme', minLength: 1, maxLength: 40 })
  .filter((value) => !/\p{Cc}/u.test(value) && value.trim() === value && [...value].length <= 255);

/** JSON as callers may write it: numbers beyond a double, keys in any order, characters of all kinds. */
const number = fc.constantFrom(
  '9007199254740993',
  '-0',
  '1.10',
  '1e400',
  '0.1000000000000000055511151231257827',
);
const string = fc.string({ unit: codePoint }).map((value) => JSON.stringify(value));
const { json } = fc.letrec<{ json: string; array: string; object: string }>((tie) => ({
  json: fc.oneof(
    { maxDepth: 4 },
    number,
    string,
    fc.constantFrom('null', 'true'),
    tie('array'),
    tie('object'),
  ),
  array: fc.array(tie('json'), { maxLength: 4 }).map((items) => `[${items.join(',')}]`),
  object: objectOf(tie('json'), fc.string({ unit: codePoint, maxLength: 8 })),
}));

function objectOf(value: fc.Arbitrary<string>, key: fc.Arbitrary<string>): fc.Arbitrary<string> {
  return fc
    .uniqueArray(fc.tuple(key, value), { selector: ([name]) => name, maxLength: 6 })
    .map((members) => members.filter(([name]) => name !== '__proto__'))
    .map((members) => `{${members.map(([name, item]) => `${JSON.stringify(name)}:${item}`).join(',')}}`);
}

const dataSource = fc.oneof(
  text.map((value) => JSON.stringify(value)),
  fc.maxSafeInteger().map(String),
);
const group: fc.Arbitrary<Group> = fc.record({
  id: text,
  name: text,
  mapping: fc.oneof(fc.constant('null'), objectOf(dataSource, text)),
  properties: fc.oneof(fc.constant('null'), objectOf(json, text)),
  token: fc.option(
    fc.string({
      unit: fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code)),
      minLength: 24,
      maxLength: 180,
    }),
  ),
  isRotated: fc.boolean(),
});
const groups = fc.uniqueArray(group, { selector: ({ id }) => id, minLength: 1, maxLength: 12 });

const targets: [string, DatabaseKind][] = [
  ['SQLite', sqlite],
  ['PostgreSQL', postgres],
];
for (const [name, targetKind] of targets) {
  describeOnEachDatabase(`an export imported into ${name}`, (sourceKind) => {
    const stack = suiteStack();
    let source: TestService;
    let target: TestService;
    let workspaces = 0;
    before(async () => {
      source = stack.use(await TestService.start(sourceKind));
      target = stack.use(await TestService.start(targetKind));
      // Gives the workspaces of the two databases different ids, and so their groups different buckets.
      await ensureWorkspace(target.app.context.store, 'another', 0);
    });

    async function fill(workspace: string, environment: Environment, list: readonly Group[]): Promise<void> {
      const { token } = await source.apiToken({ workspaceName: workspace, environment });
      for (const [index, { id, name, mapping, properties, token: imported, isRotated }] of list.entries()) {
        const body = `{"user_group_id":${JSON.stringify(id)},"name":${JSON.stringify(name)},"mapping":${mapping},"properties":${properties}`;
        if (imported === null) await source.get(`${body}}`, { token });
        else {
          // Tokens stay unique while a failing example is shrunk.
          const unique = JSON.stringify(`${imported}/${workspaces}/${index}`);
          await source.importLine(`${body},"token":${unique}}`, { workspace, environment });
        }
        const { status, json } = await source.get({ user_group_id: id }, { token });
        assert.equal(status, 200);
        if (isRotated) await source.post({ current_token: json.user_group.token }, { token });
      }
    }

    async function exportOf(
      service: TestService,
      workspace: string,
      environment: Environment,
    ): Promise<string[]> {
      const { store, keyRing } = service.app.context;
      const { workspaceId } = (await ensureWorkspace(store, workspace, 0)).workspace;
      const lines: string[] = [];
      for await (const page of exportLines(store, { workspaceId, environment }, keyRing)) lines.push(...page);
      return lines;
    }

    it('is byte-identical when exported again, and its tokens resolve to the same groups', async () => {
      const property = fc.asyncProperty(
        groups,
        fc.constantFrom('Customer', 'Testing'),
        async (list, environment) => {
          const workspace = `workspace-${++workspaces}`;
          await fill(workspace, environment, list);
          const lines = await exportOf(source, workspace, environment);
          assert.equal(lines.length, list.length);
          const results = await Promise.all(
            lines.map((line) => target.importLine(line, { workspace, environment })),
          );
          assert.ok(results.every(({ result }) => result === 'created'));
          assert.deepEqual(await exportOf(target, workspace, environment), lines);

          const viewer = { token: (await target.apiToken({ workspaceName: workspace, environment })).token };
          for (const line of lines) {
            const { user_group_id: id, token } = JSON.parse(line);
            const { json } = await target.resolve(token, viewer);
            assert.equal(json.user_group.provided_id, id);
          }
          const again = await Promise.all(
            lines.map((line) => target.importLine(line, { workspace, environment })),
          );
          assert.ok(again.every(({ result }) => result === 'unchanged'));
        },
      );
      // Shrinking would repeat imports for hours.
      await fc.assert(property, { numRuns: 25, endOnFailure: true });
    });
  });
}
