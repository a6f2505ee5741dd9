// Measures the console on a large database: the time and size of each page, the search for a rare name, the
// first paint in Chromium, and the throughput of the API with and without ten people who click.

import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { printTable } from '../src/commands/terminal/output.ts';
import { launchBrowser, skipsBrowser } from '../test/support/browser.ts';
import { elementsOf } from '../test/support/html.ts';
import { send } from '../test/support/http.ts';
import { median } from './median.ts';
import { operationOf } from './operation.ts';
import { copyToPostgres, openBenchServer } from './postgres-database.ts';
import { processorTime, processorTimeOfChildren } from './processor-time.ts';
import { verdict } from './report.ts';
import { copyOf, markAllSeen, type SeededDatabase, seedOnce } from './seed.ts';
import type { ServerProcess } from './server-process.ts';
import { startService } from './service.ts';
import { compareRates } from './turns.ts';
import { loadAll } from './wrk.ts';

const CLICKS = 40;
const PEOPLE = 10;
const PAUSE_MS = 1_000;
const CLICKING_MS = 10_000;
const CONNECTIONS = 32;
/**
 * Number of groups whose tokens are resolved: with a million, wrk and the counts of usage take more time than
 * the console.
 */
const RESOLVED = 10_000;
const PAINTS = 9;
const MAX_PAGE_MS = 100;
const MAX_PAINT_MS = 300;
const MAX_PAGE_BYTES = 80_000;
const COUNTING_MS = 300_000;
const SEARCH_MS = 60_000;

const LIST = '/console/user-groups';
const GROUP = `${LIST}/customer-777`;
/** Last group of the list, whose name no other group has. */
const RARE = { user_group_id: 'zz-last', name: 'Rare & Sons' };
const RARE_SEARCH = `${LIST}?search=rare`;
const engines = {
  sqlite: ['SQLite'],
  postgres: ['PostgreSQL'],
  both: ['SQLite', 'PostgreSQL'],
} as const;
const pages = {
  overview: '/console',
  list: LIST,
  'search, from the start': `${LIST}?search=Customer+99&match=prefix`,
  'search, anywhere': `${LIST}?search=mer+99`,
  'search of a property': `${LIST}?search=plan%3A+gold`,
  'search, first step without a match': `${LIST}?search=no+such+group`,
  'groups of a data source': `${LIST}?data_source=source-777`,
  group: GROUP,
  edit: `${GROUP}/edit`,
  'view as': `${GROUP}/view-as`,
  'events of a group': `${GROUP}/events`,
  events: '/console/events',
  'data source': '/console/catalogue/data-sources/source-777',
  webhooks: '/console/webhooks',
  'API tokens': '/console/api-tokens',
};

interface ConsoleBenchOptions {
  folder: string;
  /** Folder that keeps the database for the next run. */
  keep?: string;
  groups: number;
  seconds: number;
  rounds: number;
  database: 'sqlite' | 'postgres' | 'both';
  /** Operations whose rates are compared. */
  only: readonly string[];
  report: (text: string) => void;
}

export async function measureConsole(options: ConsoleBenchOptions): Promise<void> {
  const { folder, groups, keep = folder } = options;
  await using stack = new AsyncDisposableStack();
  options.report(`creating ${groups} user groups`);
  const file = await seedOnce(keep, groups);
  const server = options.database === 'sqlite' ? null : stack.use(await openBenchServer());
  for (const engine of engines[options.database]) {
    const copy = copyOf(file, join(folder, engine));
    // The number of resolves that are the first of an hour varies between rounds, and costs more than the
    // console.
    markAllSeen(copy);
    const postgres = engine === 'PostgreSQL' ? server : null;
    const database = postgres === null ? copy : await copyToPostgres(copy, postgres, stack);
    await using service = await startService(database);
    await addSettings(service, database);
    const cookie = await signIn(service, database);
    await measureCounting(engine, service, cookie);
    await measurePages(engine, service, cookie);
    await measureSearch(engine, service, { cookie, groups });
    await measureBrowser(engine, service, database);
    await measureShare(engine, service, cookie, postgres?.processId ?? null);
    await measureApi(engine, service, { ...options, database, cookie });
  }
}

/** Adds a catalogue, a webhook endpoint, and the group that is searched for. */
async function addSettings({ url }: ServerProcess, { apiToken }: SeededDatabase): Promise<void> {
  const put = async (path: string, body: object, method = 'PUT') => {
    const { status, text } = await send(url, { method, path, body: JSON.stringify(body), token: apiToken });
    if (status >= 300) throw new Error(`${path} returned ${status}: ${text}`);
  };
  await put('/v1/schemas/40', { name: 'Orders' });
  await put('/v1/data-sources/source-777', { schema_id: '40', name: 'Orders 777', attributes: {} });
  await put('/v1/webhook-endpoints/crm', {
    url: 'https://crm.example.com/',
    event_types: ['*'],
    enabled: false,
  });
  await put('/v1/user-groups', RARE, 'POST');
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

interface Click {
  ms: number;
  /** Bytes of the uncompressed page. */
  bytes: number;
  text: string;
}

async function click(
  { url }: ServerProcess,
  cookie: string,
  path: string,
  expected: readonly number[] = [200],
): Promise<Click> {
  const startedAt = performance.now();
  const { status, text } = await send(url, { path, headers: { cookie, accept: 'text/html' } });
  if (!expected.includes(status)) throw new Error(`${path} returned ${status}`);
  return { ms: performance.now() - startedAt, bytes: Buffer.byteLength(text), text };
}

/** Waits until the figures of the overview are counted, as they are after the first visit. */
async function measureCounting(engine: string, service: ServerProcess, cookie: string): Promise<void> {
  const startedAt = performance.now();
  while (!(await click(service, cookie, pages.overview)).text.includes('as of')) {
    if (performance.now() - startedAt > COUNTING_MS) throw new Error('the figures are not counted');
    await sleep(PAUSE_MS);
  }
  const seconds = (performance.now() - startedAt) / 1_000;
  console.log(
    `${engine}, the first visit counts the figures within ${seconds.toFixed(0)} s in the background`,
  );
}

async function measurePages(engine: string, service: ServerProcess, cookie: string): Promise<void> {
  const rows: string[][] = [];
  for (const [name, path] of Object.entries(pages)) {
    const clicks: Click[] = [];
    const before = processorTime(service.processId);
    for (let request = 0; request < CLICKS; request++) clicks.push(await click(service, cookie, path));
    const micros = (processorTime(service.processId) - before) / CLICKS;
    const times = clicks.map(({ ms }) => ms);
    const p50 = median(times);
    const bytes = Math.max(...clicks.map((each) => each.bytes));
    const isReached = p50 <= MAX_PAGE_MS && bytes <= MAX_PAGE_BYTES;
    const figures = [p50, Math.max(...times), micros / 1_000, bytes / 1_000];
    rows.push([name, ...figures.map((figure) => figure.toFixed(1)), verdict(isReached)]);
  }
  const goal = `<= ${MAX_PAGE_MS} ms, ${MAX_PAGE_BYTES / 1_000} KB`;
  printTable([`${engine}, page`, 'p50 ms', 'max ms', 'processor ms', 'KB, uncompressed', goal], rows);
}

/** Measures the search of a person without JavaScript, who clicks "Search on" until the name is found. */
async function measureSearch(
  engine: string,
  service: ServerProcess,
  { cookie, groups }: { cookie: string; groups: number },
): Promise<void> {
  const times: number[] = [];
  for (let path: string | undefined = RARE_SEARCH; path !== undefined; ) {
    const { ms, text } = await click(service, cookie, path);
    times.push(ms);
    if (text.includes(RARE.user_group_id)) break;
    const next = elementsOf(text).find(({ attributes }) => attributes.id === 'search-on');
    path = next?.attributes.href?.replaceAll('&amp;', '&');
  }
  const slowest = Math.max(...times).toFixed(0);
  console.log(
    `${engine}, a rare name among ${groups} groups without JavaScript: found with ${times.length - 1} clicks on "Search on", the slowest after ${slowest} ms`,
  );
}

/** Measures the list of user groups in a browser that has cached the stylesheet and the scripts. */
async function measureBrowser(
  engine: string,
  service: ServerProcess,
  database: SeededDatabase,
): Promise<void> {
  if (skipsBrowser) return console.log(`first paint: ${skipsBrowser}`);
  const browser = await launchBrowser();
  const page = await browser.newPage();
  await page.goto(`${service.url}/console`);
  await page.getByLabel('API token').fill(database.apiToken);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { level: 1 }).waitFor();
  const paints: number[] = [];
  for (let visit = 0; visit < PAINTS; visit++) {
    await page.goto(`${service.url}${pages.list}`, { waitUntil: 'networkidle' });
    paints.push(await page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime"));
  }
  await page.goto(`${service.url}${LIST}`);
  const startedAt = performance.now();
  await page.getByLabel('Id or name').fill('rare');
  await page.getByRole('link', { name: RARE.user_group_id, exact: true }).waitFor({ timeout: SEARCH_MS });
  const seconds = (performance.now() - startedAt) / 1_000;
  await browser.close();
  console.log(`${engine}, the same with JavaScript: found after ${seconds.toFixed(1)} s, without a click`);
  const p50 = median(paints);
  console.log(
    `${engine}, first paint: ${p50.toFixed(0)} ms (<= ${MAX_PAINT_MS}) ${verdict(p50 <= MAX_PAINT_MS)}`,
  );
}

/**
 * Measures processor time, including that of the process that clicks, which competes with the API for the
 * same processors.
 */
async function measureShare(
  engine: string,
  service: ServerProcess,
  cookie: string,
  postmaster: number | null,
): Promise<void> {
  const micros = () => [
    processorTime(service.processId),
    processorTime(process.pid),
    postmaster === null ? 0 : processorTimeOfChildren(postmaster),
  ];
  const before = micros();
  const startedAt = performance.now();
  await whilePeopleClick(service, cookie, () => sleep(CLICKING_MS));
  const elapsed = (performance.now() - startedAt) * 1_000;
  const [own, client, postgres] = micros().map((after, index) => percent((after - before[index]!) / elapsed));
  const database = postmaster === null ? '' : ` and of PostgreSQL ${postgres}`;
  console.log(
    `${engine}, ${PEOPLE} people who click take ${own} % of a core of the service${database}; their client takes ${client}`,
  );
}

function percent(share: number): string {
  return (share * 100).toFixed(1);
}

interface ApiOptions extends Pick<ConsoleBenchOptions, 'seconds' | 'rounds' | 'only' | 'report'> {
  database: SeededDatabase;
  cookie: string;
}

async function measureApi(engine: string, service: ServerProcess, options: ApiOptions): Promise<void> {
  const { database, cookie } = options;
  const tokens = database.tokens.slice(0, RESOLVED);
  const rows: string[][] = [];
  for (const name of options.only) {
    const run = (seconds: number) =>
      loadAll([service], {
        operation: operationOf(name),
        database,
        tokens,
        seconds,
        connections: CONNECTIONS,
      });
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

/**
 * Lets people open the pages one after another, with a pause for reading. Lists may be refused while the API
 * is saturated.
 */
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
      await click(service, cookie, paths[turn % paths.length]!, [200, 503]);
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
