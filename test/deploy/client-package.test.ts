// The client package: packed and installed from a clone with the commands of its README, and used as in the
// README, on every runtime that is installed.

import assert from 'node:assert/strict';
import { existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { copyClone } from '../support/clone.ts';
import { sqlite } from '../support/database.ts';
import { type Exit, Folder, Program } from '../support/process.ts';
import { TestService } from '../support/service.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const CLIENT = join(ROOT, 'client');
const LIMIT_MS = 60_000;

/** Returns the path of a command installed on the machine, ignoring the binaries of npm packages. */
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

/** Returns the block of commands in the README that contains the given command. */
function installation(command: string): string {
  const readme = readFileSync(join(CLIENT, 'README.md'), 'utf8');
  const blocks = [...readme.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, block = '']) => block);
  const script = blocks.find((block) => block.includes(command));
  assert.ok(script, command);
  return script;
}

/** Returns the TypeScript block in the README that starts with the given text. */
function readmeCode(start: string): string {
  const readme = readFileSync(join(CLIENT, 'README.md'), 'utf8');
  const [, rest] = readme.split(`\`\`\`ts\n${start}`);
  assert.ok(rest, start);
  return start + rest.slice(0, rest.indexOf('```'));
}

function createProject(path: string): void {
  mkdirSync(path);
  writeFileSync(join(path, 'package.json'), '{"private":true,"type":"module"}');
}

describe('The package of the client, installed into an empty project', () => {
  const folder = Folder.of();
  const project = folder.join('your-project');
  const service = TestService.of(sqlite);
  before(async () => {
    copyClone(folder.join('user-group-service'));
    createProject(project);
    await shell(installation('npm pack'));
    writeFileSync(join(project, 'example.js'), example());
  });

  /** Runs a script in the folder that contains the clone and the projects. */
  function shell(script: string): Promise<Exit> {
    return run('bash', '-euo', 'pipefail', '-c', script);
  }

  async function run(command: string, ...args: string[]): Promise<Exit> {
    const env = {
      // npm finds its cache through environment variables.
      ...(process.env as Record<string, string>),
      npm_config_offline: 'true',
      npm_config_audit: 'false',
      API_TOKEN: service.token,
    };
    await using program = new Program(folder, args, { command, env });
    const exit = await program.exit(LIMIT_MS);
    assert.equal(exit.code, 0, exit.stdout + exit.stderr);
    return exit;
  }

  /** Returns the first example of the README, changed to call the service of the test. */
  function example(): string {
    return readmeCode('import { UserGroupClient').replace('http://127.0.0.1:8080', service.url);
  }

  for (const { name, command, args } of runtimes) {
    const skip = command === undefined && `${name} is not installed`;
    it(`runs the example of the README on ${name}`, { skip, timeout: LIMIT_MS }, async () => {
      const { stdout } = await run(command!, ...args, join(project, 'example.js'));
      assert.match(stdout, /^customer-1 \{[\s\S]*\}\ntrue\nAcme\nuser_group_not_found\n$/);
      assert.match(stdout, /plan: ["']gold["'],\s*seats: 12/);
    });
  }

  it('has types that compile in a project with Node types and in one with DOM types', async () => {
    const settings = ['--strict', '--exactOptionalPropertyTypes', '--noEmit', '--module', 'nodenext'];
    const tsc = join(ROOT, 'node_modules/.bin/tsc');
    const blocks = ['interface Plan', 'await client.schemas', 'const { url }'].map(readmeCode);
    const parameters = 'token: string, viewersToken: string';
    const typed = blocks.map((code, i) => `export async function typed${i}(${parameters}) {\n${code}}\n`);
    writeFileSync(join(project, 'node.ts'), example() + typed.join(''));
    const typeRoots = join(ROOT, 'node_modules/@types');
    await run(
      tsc,
      join(project, 'node.ts'),
      ...settings,
      '--lib',
      'es2023',
      '--typeRoots',
      typeRoots,
      '--types',
      'node',
    );
    writeFileSync(join(project, 'web.ts'), example().replace(/process.*(?=,)/, "'x'"));
    await run(tsc, join(project, 'web.ts'), ...settings, '--lib', 'es2023,dom', '--types', '');
  });

  it('can be linked from the clone instead', async () => {
    const linking = installation('npm run build').replaceAll('your-project', 'linked-project');
    createProject(folder.join('linked-project'));
    await shell(linking);
    writeFileSync(folder.join('linked-project/example.js'), example());
    const { stdout } = await run(process.execPath, folder.join('linked-project/example.js'));
    assert.match(stdout, /^customer-1 /);
  });

  it('is found by TypeScript and tools that do not read `exports`, such as with `"moduleResolution": "node"`', () => {
    const path = join(project, 'node_modules/user-group-service-client/package.json');
    const { main, types, exports } = JSON.parse(readFileSync(path, 'utf8'));
    assert.deepEqual({ default: main, types }, exports['.']);
  });

  it('contains only compiled code and documentation, and has no dependencies', () => {
    const root = join(project, 'node_modules/user-group-service-client');
    const files = globSync('**/*', { cwd: root, withFileTypes: true }).filter((entry) => entry.isFile());
    const unexpected = files.filter(
      ({ name }) => !/\.js$|\.d\.ts$|\.md$|^package\.json$|^LICENSE$/.test(name),
    );
    assert.deepEqual(
      unexpected.map(({ name }) => name),
      [],
    );
    const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
    assert.equal(manifest.dependencies, undefined);
    assert.equal(readFileSync(join(root, 'LICENSE'), 'utf8'), readFileSync(join(ROOT, 'LICENSE'), 'utf8'));
  });
});
