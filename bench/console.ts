// The console on a large database: the time of each page, the first paint in Chromium, and the throughput of the API with
// and without ten people who click.

import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { printTable } from '../src/commands/output.ts';
import { launchBrowser, skipsBrowser } from '../test/support/browser.ts';
import { send } from '../test/support/http.ts';
import { median } from './median.ts';
import { operationOf } from './operation.ts';
import { copyToPostgres, openBenchServer } from './postgres-database.ts';
import { processorTime } from './processor-time.ts';
import { verdict } from './report.ts';
import { copyOf, type SeededDatabase, seed } from './seed.ts';
import type { ServerProcess } from './server-process.ts';
import { startService } from './service.ts';
import { compareRates } from './turns.ts';
import { loadAll } from './wrk.ts';

const CLICKS = 40;
const PEOPLE = 10;
const PAUSE_MS = 1_000;
const CLICKING_MS = 10_000;
const CONNECTIONS = 32;
const PAINTS = 9;
const MAX_PAGE_MS = 100;
const MAX_PAINT_MS = 300;

const GROUP = '/console/user-groups/customer-777';
const pages = {
  list: '/console/user-groups',
  'search, from the start': '/console/user-groups?search=Customer+99',
  'search, anywhere': '/console/user-groups?search=mer+99&match=contains',
  'search: no match': '/console/user-groups?search=no+such+group&match=contains',
  group: GROUP,
  'view as': `${GROUP}/view-as`,
  'events of a group': `${GROUP}/events`,
  events: '/console/events',
};

export interface ConsoleBenchOptions {
  folder: string;
  groups: number;
  seconds: number;
  rounds: number;
  report: (text: string) => void;
}

export async function measureConsole({ folder, groups, ...options }: ConsoleBenchOptions): Promise<void> {
  await using stack = new AsyncDisposableStack();
  options.report(`creating ${groups} user groups`);
  const file = await seed(join(folder, 'seed'), groups);
  const server = stack.use(await openBenchServer());
  for (const engine of ['SQLite', 'PostgreSQL'] as const) {
    const copy = copyOf(file, join(folder, engine));
    const database = engine === 'SQLite' ? copy : await copyToPostgres(copy, server, stack);
    await using service = await startService(database);
    const cookie = await signIn(service, database);
    await measurePages(engine, service, cookie);
    await measurePaint(engine, service, database);
    await measureShare(engine, service, cookie);
    await measureApi(engine, service, { database, cookie, ...options });
  }
}

async function signIn({ url }: ServerProcess, { apiToken }: SeededDatabase): Promise<string> {
  const { headers, text } = await send(url, {
    method: 'POST',
    path: '/console/sign-in',
    body: new URLSearchParams({ api_token: apiToken }).toString(),
    headers: { 'content-type': 'application/x-www-form-urlencoded', origin: url },
  });
  const [cookie] = headers['set-cookie'] ?? [];
  if (cookie === undefined) throw new Error(`cannot sign in: ${text}`);
  return cookie.split(';', 1)[0]!;
}

async function click({ url }: ServerProcess, cookie: string, path: string): Promise<number> {
  const startedAt = performance.now();
  const { status } = await send(url, { path, headers: { cookie, accept: 'text/html' } });
  if (status !== 200) throw new Error(`${path} returned ${status}`);
  return performance.now() - startedAt;
}

async function measurePages(engine: string, service: ServerProcess, cookie: string): Promise<void> {
  const rows: string[][] = [];
  for (const [name, path] of Object.entries(pages)) {
    const times: number[] = [];
    for (let request = 0; request < CLICKS; request++) times.push(await click(service, cookie, path));
    const p50 = median(times);
    rows.push([name, p50.toFixed(1), Math.max(...times).toFixed(1), verdict(p50 <= MAX_PAGE_MS)]);
  }
  printTable([`${engine}, page`, 'p50 ms', 'max ms', `<= ${MAX_PAGE_MS} ms`], rows);
}

/** A browser that has the stylesheet and the scripts, on the list of user groups. */
async function measurePaint(engine: string, service: ServerProcess, database: SeededDatabase): Promise<void> {
  if (skipsBrowser) return console.log(`first paint: ${skipsBrowser}`);
  const browser = await launchBrowser();
  const page = await browser.newPage();
  await page.goto(`${service.url}/console`);
  await page.getByLabel('API token').fill(database.apiToken);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'User groups', level: 1 }).waitFor();
  const paints: number[] = [];
  for (let visit = 0; visit < PAINTS; visit++) {
    await page.goto(`${service.url}${pages.list}`, { waitUntil: 'networkidle' });
    paints.push(await page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime"));
  }
  await browser.close();
  const p50 = median(paints);
  console.log(
    `${engine}, first paint: ${p50.toFixed(0)} ms (<= ${MAX_PAINT_MS}) ${verdict(p50 <= MAX_PAINT_MS)}`,
  );
}

/** Of the service, without PostgreSQL. The rate of the API varies by more from round to round. */
async function measureShare(engine: string, service: ServerProcess, cookie: string): Promise<void> {
  const before = processorTime(service.processId);
  const startedAt = performance.now();
  await whilePeopleClick(service, cookie, () => sleep(CLICKING_MS));
  const micros = processorTime(service.processId) - before;
  const share = micros / 1_000 / (performance.now() - startedAt);
  console.log(`${engine}, ${PEOPLE} people who click take ${(share * 100).toFixed(1)} % of a core`);
}

interface ApiOptions extends Pick<ConsoleBenchOptions, 'seconds' | 'rounds' | 'report'> {
  database: SeededDatabase;
  cookie: string;
}

async function measureApi(engine: string, service: ServerProcess, options: ApiOptions): Promise<void> {
  const { database, cookie } = options;
  const rows: string[][] = [];
  for (const name of ['get', 'resolve', 'create']) {
    const run = (seconds: number) =>
      loadAll([service], { operation: operationOf(name), database, seconds, connections: CONNECTIONS });
    const { before, after, ratio } = await compareRates(
      [
        { name: `${engine}, ${name}, alone`, run },
        {
          name: `${engine}, ${name}, while people click`,
          run: (seconds) => whilePeopleClick(service, cookie, () => run(seconds)),
        },
      ],
      options,
    );
    rows.push([name, before.toFixed(0), after.toFixed(0), ratio.toFixed(3)]);
  }
  printTable([`${engine}, API`, 'alone/s', 'while people click/s', 'ratio'], rows);
}

/** Each opens the pages one after another, with a pause for reading. */
async function whilePeopleClick<Result>(
  service: ServerProcess,
  cookie: string,
  work: () => Promise<Result>,
): Promise<Result> {
  const stop = new AbortController();
  const people = Array.from({ length: PEOPLE }, async (_, person) => {
    const paths = Object.values(pages);
    await sleep((person / PEOPLE) * PAUSE_MS);
    for (let turn = person; !stop.signal.aborted; turn++) {
      await click(service, cookie, paths[turn % paths.length]!);
      await sleep(PAUSE_MS);
    }
  });
  try {
    return await work();
  } finally {
    stop.abort();
    await Promise.all(people);
  }
}
