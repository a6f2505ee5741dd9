// The time and the memory of the command check, which reads every user group.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { printTable } from '../src/commands/output.ts';
import { copyToPostgres, openBenchServer } from './postgres-database.ts';
import { verdict } from './report.ts';
import { addCatalogue, type SeededDatabase, seed, WORKSPACE } from './seed.ts';
import { rootPath } from './server-process.ts';

const DATA_SOURCES = 1_000;
const RESIDENT_TARGET_MEGABYTES = 200;
const POLL_MS = 50;
const MAX_LINE = 1_000;

interface CheckOptions {
  folder: string;
  groups: number;
  report: (text: string) => void;
}

export async function measureCheck({ folder, groups, report }: CheckOptions): Promise<void> {
  await using stack = new AsyncDisposableStack();
  const server = stack.use(await openBenchServer());
  report(`creating ${groups} user groups`);
  const file = await seed(join(folder, 'check'), groups);
  await addCatalogue(file, DATA_SOURCES);
  const copy = await copyToPostgres(file, server, stack);
  const rows = [
    ['SQLite', ...(await figuresOf(file))],
    ['PostgreSQL', ...(await figuresOf(copy))],
  ];
  const target = `<= ${RESIDENT_TARGET_MEGABYTES} MB`;
  printTable(
    [`check of ${groups} user groups`, 'seconds', 'per second', 'peak resident MB', target, 'violations'],
    rows,
  );
}

async function figuresOf({ folder, databaseUrl }: SeededDatabase): Promise<string[]> {
  const args = [rootPath('bin/user-group-service.js'), 'check', '--workspace', WORKSPACE, '--json'];
  const startedAt = performance.now();
  const child = spawn(process.execPath, args, {
    cwd: folder,
    env: { PATH: process.env.PATH, DATABASE_URL: databaseUrl },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const [line, peak] = await Promise.all([lastLine(child.stdout), peakResidentMegabytes(child)]);
  const seconds = (performance.now() - startedAt) / 1_000;
  const { checked, violating } = JSON.parse(line);
  return [
    seconds.toFixed(1),
    Math.round(checked / seconds).toString(),
    peak.toFixed(0),
    verdict(peak <= RESIDENT_TARGET_MEGABYTES),
    String(violating),
  ];
}

async function lastLine(output: Readable): Promise<string> {
  let end = '';
  for await (const chunk of output.setEncoding('utf8')) end = (end + chunk).slice(-MAX_LINE);
  return end.trimEnd().split('\n').at(-1)!;
}

/** As the kernel records it; the last moments of the process may be missing. */
async function peakResidentMegabytes(child: ChildProcess): Promise<number> {
  let kibibytes = 0;
  const timer = setInterval(() => {
    const [, peak] = /VmHWM:\s+(\d+)/.exec(statusOf(child.pid!)) ?? [];
    if (peak !== undefined) kibibytes = Number(peak);
  }, POLL_MS);
  await once(child, 'exit');
  clearInterval(timer);
  return (kibibytes * 1_024) / 1_000_000;
}

function statusOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/status`, 'utf8');
  } catch {
    // It has exited.
    return '';
  }
}
