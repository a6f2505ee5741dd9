// The published package of the client: packed, installed into an empty project, and used there as its README shows,
// on each runtime that the machine has.

import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { sqlite } from '../database.ts';
import { type Exit, Folder, Program } from '../process.ts';
import { TestService } from '../service.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const CLIENT = join(ROOT, 'client');
const LIMIT_MS = 60_000;

/** Where the machine has a command of the name; not that of a package. */
function installed(command: string): string | undefined {
  const folders = (process.env.PATH ?? '')
    .split(delimiter)
    .filter((folder) => !folder.includes('node_modules'));
  return folders.map((folder) => join(folder, command)).find((path) => existsSync(path));
}

const runtimes: { name: string; command: string | undefined; args: string[] }[] = [
  { name: 'the Node of the tests', command: process.execPath, args: [] },
  { name: 'the Node of the machine', command: installed('node'), args: [] },
  { name: 'Bun', command: installed('bun'), args: ['run'] },
  { name: 'Deno', command: installed('deno'), args: ['run', '--allow-env', '--allow-net'] },
];

describe('The package of the client, installed into an empty project', () => {
  const folder = new Folder();
  let service: TestService;
  before(async () => {
    service = await TestService.start(sqlite);
    await run('npm', 'pack', CLIENT);
    writeFileSync(folder.join('package.json'), '{"private":true,"type":"module"}');
    const [tarball = ''] = globSync('*.tgz', { cwd: folder.path });
    await run('npm', 'install', `./${tarball}`, '--offline', '--no-audit');
    writeFileSync(folder.join('example.js'), example());
  });
  after(async () => {
    await service.end();
    folder[Symbol.dispose]();
  });

  async function run(command: string, ...args: string[]): Promise<Exit> {
    // npm reads where its cache is from the environment.
    const env = { ...(process.env as Record<string, string>), API_TOKEN: service.token };
    await using program = new Program(folder, args, { command, env });
    const exit = await program.exit(LIMIT_MS);
    assert.equal(exit.code, 0, exit.stdout + exit.stderr);
    return exit;
  }

  /** The first example of the README, for the service of the test. */
  function example(): string {
    const readme = readFileSync(join(CLIENT, 'README.md'), 'utf8');
    const [, code = ''] = /```ts\n(import \{ UserGroupClient[\s\S]*?)```/.exec(readme) ?? [];
    return code.replace('http://127.0.0.1:8080', service.url);
  }

  for (const { name, command, args } of runtimes) {
    const skip = command === undefined && `${name} is not on this machine`;
    it(`runs the example of the README on ${name}`, { skip, timeout: LIMIT_MS }, async () => {
      const { stdout } = await run(command!, ...args, 'example.js');
      assert.match(stdout, /^customer-1 \{[\s\S]*\}\ntrue\nAcme\nuser_group_not_found\n$/);
      assert.match(stdout, /plan: ["']gold["'],\s*seats: 12/);
    });
  }

  it('has types for a project that knows Node, and for one that knows the web', async () => {
    const settings = ['--strict', '--exactOptionalPropertyTypes', '--noEmit', '--module', 'nodenext'];
    const tsc = join(ROOT, 'node_modules/.bin/tsc');
    writeFileSync(folder.join('node.ts'), example());
    const typeRoots = join(ROOT, 'node_modules/@types');
    await run(tsc, 'node.ts', ...settings, '--lib', 'es2023', '--typeRoots', typeRoots, '--types', 'node');
    writeFileSync(folder.join('web.ts'), example().replace(/process.*(?=,)/, "'x'"));
    await run(tsc, 'web.ts', ...settings, '--lib', 'es2023,dom', '--types', '');
  });

  it('holds only what runs and what people read, and depends on nothing', () => {
    const root = folder.join('node_modules/user-group-service-client');
    const files = globSync('**/*', { cwd: root, withFileTypes: true }).filter((entry) => entry.isFile());
    const strange = files.filter(({ name }) => !/\.js$|\.d\.ts$|\.md$|^package\.json$|^LICENSE$/.test(name));
    assert.deepEqual(
      strange.map(({ name }) => name),
      [],
    );
    const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
    assert.equal(manifest.dependencies, undefined);
    assert.equal(readFileSync(join(root, 'LICENSE'), 'utf8'), readFileSync(join(ROOT, 'LICENSE'), 'utf8'));
  });
});
