// Documents are merged and compared in time linear in their size, independent of their depth.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Changes } from '../../../src/domain/event/changes.ts';
import { limits } from '../../../src/domain/field.ts';
import { sameJson } from '../../../src/domain/json/json-tree.ts';
import { mergePatch } from '../../../src/domain/json/merge-patch.ts';
import type { JsonText } from '../../../src/domain/json/strict-json.ts';

const KEYS = 4_500;
/** Reading the document once per level would take 8 times as long on average. */
const MAX_RATIO = 3;

/** Returns a document whose only other members are at this level. */
function document(levels: number, value: number): JsonText {
  const members = Array.from({ length: KEYS }, (_, index) => `"k${index}":${value}`).join(',');
  return `${'{"a":'.repeat(levels - 1)}{${members}}${'}'.repeat(levels - 1)}` as JsonText;
}

/** Returns the minimum CPU time of several runs: other load on the machine only adds to it. */
function minCpuMs(work: () => void): number {
  const times = Array.from({ length: 12 }, () => {
    const before = process.cpuUsage();
    work();
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1_000;
  });
  return Math.min(...times);
}

const tasks = {
  'A merge patch': (levels: number) => {
    const [target, patch] = [document(levels, 1), document(levels, 2)];
    return () => assert.equal(mergePatch(target, patch).text, patch);
  },
  'A comparison': (levels: number) => {
    const [a, b] = [document(levels, 1), document(levels, 2)];
    return () => assert.ok(!sameJson(a, b));
  },
  'The difference of two versions': (levels: number) => {
    const [a, b] = [document(levels, 1), document(levels, 2)];
    const changes = new Changes({ properties: a }, { properties: b });
    return () => assert.ok(changes.within(Number.POSITIVE_INFINITY)!.length > a.length);
  },
};

for (const [name, taskOf] of Object.entries(tasks)) {
  describe(name, () => {
    it('takes no longer for deep documents', () => {
      const flatMs = minCpuMs(taskOf(1));
      const deepMs = minCpuMs(taskOf(limits.propertiesLevels));
      assert.ok(deepMs < MAX_RATIO * flatMs, `${deepMs} ms instead of ${flatMs}`);
    });
  });
}
