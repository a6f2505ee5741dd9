// Generates clients from the API description with the commands of docs/clients.md, and runs the programs of
// that page against the service. Installs the generators into a temporary folder.

import { cpSync, writeFileSync } from 'node:fs';
import type { DatabaseKind } from '../test/support/database.ts';
import { codeBlocks, pageText } from '../test/support/page.ts';
import { createApiToken, Folder, Program, serve } from '../test/support/process.ts';
import { PromiseBroken } from './support/ledger.ts';

const DESCRIPTION = new URL('../docs/openapi.json', import.meta.url);
const LIMIT_MS = 540_000;
/**
 * Output of each program: created, the new plan, the group of the new token, the code of the error. Maven
 * prints colour codes at the beginning of the line.
 */
const OUTCOME = /true platinum customer-1 user_group_not_found$/im;
/** Changes of the group, which show that the program made the three calls. */
const CHANGES = ['user_group.created', 'user_group.updated', 'user_group.token_rotated'];

const programs = {
  'openapi-typescript with openapi-fetch': { language: 'ts', file: 'main.mts' },
  'hey-api': { language: 'ts', file: 'main.mts' },
  'openapi-python-client': { language: 'python', file: 'main.py' },
  'oapi-codegen': { language: 'go', file: 'main.go' },
  'openapi-generator': { language: 'java', file: 'Main.java' },
} as const;

export type Generator = keyof typeof programs;
export const generators = Object.keys(programs) as Generator[];

interface GeneratorFigures {
  generator: Generator;
  seconds: number;
}

interface GeneratorsOptions {
  kind: DatabaseKind;
  only: readonly Generator[];
  onGenerator: (figures: GeneratorFigures) => void;
}

export async function runGenerators(options: GeneratorsOptions): Promise<GeneratorFigures[]> {
  const figures: GeneratorFigures[] = [];
  for (const generator of options.only) {
    figures.push(await runGenerator(options.kind, generator));
    options.onGenerator(figures.at(-1)!);
  }
  return figures;
}

async function runGenerator(kind: DatabaseKind, generator: Generator): Promise<GeneratorFigures> {
  const start = performance.now();
  await using database = await kind.create();
  using folder = new Folder();
  using project = new Folder();
  const { token } = await createApiToken(folder, [], { env: database.env });
  await using service = await serve(folder, { env: database.env });
  await runPage(project, generator, { SERVICE_URL: service.url, API_TOKEN: token });
  const { json } = await service.call(token, 'GET', '/v1/user-groups/customer-1/events?order=oldest');
  const types: string[] = json.events.map(({ type }: { type: string }) => type);
  if (`${types}` !== `${CHANGES}`) throw new PromiseBroken(`the client of ${generator} made ${types}`);
  const { mapping } = (await service.call(token, 'GET', '/v1/user-groups/customer-1')).json.user_group;
  // No program sends an empty mapping, or a mapping in an update: it would replace the stored one.
  const isEmpty = mapping !== null && Object.keys(mapping).length === 0;
  if (
    isEmpty ||
    json.events.slice(1).some(({ changes }: { changes: object | null }) => 'mapping' in (changes ?? {}))
  )
    throw new PromiseBroken(`the client of ${generator} replaces the mapping by itself`);
  return { generator, seconds: Math.round((performance.now() - start) / 1_000) };
}

async function runPage(project: Folder, generator: Generator, env: Record<string, string>): Promise<void> {
  const [, section = ''] = pageText('docs/clients.md').split(`### ${generator}\n`);
  const [body = ''] = section.split(/^##/m);
  const { language, file } = programs[generator];
  const [script = ''] = codeBlocks(body, 'sh');
  const [code = ''] = codeBlocks(body, language);
  cpSync(DESCRIPTION, project.join('openapi.json'));
  writeFileSync(project.join(file), code);
  await using program = new Program(project, ['-euo', 'pipefail', '-c', script], {
    command: 'bash',
    // Keeps the settings of npm, pip, Go and Maven of this machine.
    env: { ...(process.env as Record<string, string>), ...env },
  });
  const { code: exitCode, stdout, stderr } = await program.exit(LIMIT_MS);
  if (exitCode !== 0 || !OUTCOME.test(stdout))
    throw new PromiseBroken(`the commands of ${generator} end with ${exitCode}: ${stdout}${stderr}`);
}
