// The receiver for Express in docs/webhooks.md compiles in strict TypeScript.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const pathOf = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url));
const hasTypes = existsSync(pathOf('node_modules/@types/express')) && existsSync(pathOf('client/dist'));

describe('The receiver in docs/webhooks.md', () => {
  it('compiles', {
    skip: !hasTypes && 'the types of Express are not installed, or the client is not built',
  }, async () => {
    const [, receiver] = /^```ts\n([\s\S]*?)^```/m.exec(readFileSync(pathOf('docs/webhooks.md'), 'utf8'))!;
    // Inside the folder, where its imports are found.
    const file = pathOf(`test/client-matrix/receiver-${process.pid}.mts`);
    writeFileSync(file, receiver!);
    try {
      const options = [
        '--ignoreConfig',
        '--strict',
        '--noEmit',
        '--skipLibCheck',
        '--module',
        'nodenext',
        '--target',
        'es2023',
      ];
      const tsc = pathOf('node_modules/typescript/bin/tsc');
      const { stdout } = await promisify(execFile)(process.execPath, [
        tsc,
        ...options,
        '--types',
        'node',
        file,
      ]);
      assert.equal(stdout, '');
    } finally {
      rmSync(file, { force: true });
    }
  });
});
