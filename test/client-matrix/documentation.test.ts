// docs/clients.md says what the matrix holds: its table is that of the matrix, and its lines are those that run there.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { clients, pathOf } from './client.ts';
import { proxies } from './proxy.ts';

const page = readFileSync(new URL('../../docs/clients.md', import.meta.url), 'utf8');
const blocks = [...page.matchAll(/^```\w*\n([\s\S]*?)^```/gm)].map(([, block]) => block);

/** What the page shows of a file: the lines between the marks where there are some, else all. */
function shownLines(path: string): string {
  const file = readFileSync(path, 'utf8');
  const marked = /^([ \t]*)(?:#|\/\/) docs: begin\n([\s\S]*?)^[ \t]*(?:#|\/\/) docs: end/gm;
  const parts = [...file.matchAll(marked)].map(([, indent = '', lines = '']) =>
    lines.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
  );
  return parts.length === 0 ? file : parts.join('\n');
}

describe('docs/clients.md', () => {
  it('has the table of the matrix, row by row', () => {
    const rows = page.split('\n').filter((line) => /^\| `/.test(line));
    const expected = clients.map(
      ({ name, getBody, patch, connection }) => `| \`${name}\` | ${getBody} | ${patch} | ${connection} |`,
    );
    assert.deepEqual(rows, expected);
  });

  for (const { name, program } of clients) {
    it(`shows the lines with which ${name} calls`, () => {
      assert.ok(blocks.includes(shownLines(pathOf(`program/${program}`))));
    });
  }

  for (const { name, settings } of proxies) {
    it(`shows the settings with which ${name} passes calls on`, () => {
      assert.ok(blocks.includes(shownLines(settings)));
    });
  }

  it('speaks of every program of the matrix', () => {
    const programs = readdirSync(pathOf('program'));
    assert.deepEqual(programs.sort(), clients.map(({ program }) => program).sort());
  });
});
