// docs/clients.md matches the client matrix: it contains the same table, programs and proxy settings.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { clients, pathOf } from '../support/client-matrix/client.ts';
import { proxies } from '../support/client-matrix/proxy.ts';

const page = readFileSync(new URL('../../docs/clients.md', import.meta.url), 'utf8');
const blocks = [...page.matchAll(/^```\w*\n([\s\S]*?)^```/gm)].map(([, block]) => block);

/** Returns the part of a file that the page shows: the lines between the markers, or else the whole file. */
function shownLines(path: string): string {
  const file = readFileSync(path, 'utf8');
  const marked = /^([ \t]*)(?:#|\/\/) docs: begin\n([\s\S]*?)^[ \t]*(?:#|\/\/) docs: end/gm;
  const parts = [...file.matchAll(marked)].map(([, indent = '', lines = '']) =>
    lines.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
  );
  return parts.length === 0 ? file : parts.join('\n');
}

describe('docs/clients.md', () => {
  it('contains the table of the matrix', () => {
    const rows = page.split('\n').filter((line) => /^\| `/.test(line));
    const expected = clients.map(
      ({ name, getBody, patch, connection }) => `| \`${name}\` | ${getBody} | ${patch} | ${connection} |`,
    );
    assert.deepEqual(rows, expected);
  });

  for (const { name, program } of clients) {
    it(`contains the program for ${name}`, () => {
      assert.ok(blocks.includes(shownLines(pathOf(`program/${program}`))));
    });
  }

  for (const { name, settings } of proxies) {
    it(`contains the settings of ${name}`, () => {
      assert.ok(blocks.includes(shownLines(settings)));
    });
  }

  it('covers every program of the matrix', () => {
    const programs = readdirSync(pathOf('program'));
    assert.deepEqual(programs.sort(), clients.map(({ program }) => program).sort());
  });
});
