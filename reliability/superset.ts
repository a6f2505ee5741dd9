// Views a real Superset with guest tokens: customers with hostile values must see their own rows of two data
// sets, and no others.

import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import type { DatabaseKind } from '../test/support/database.ts';
import { EmbedSite, SECRET } from '../test/support/embed-token/site.ts';
import { codeBlocks, pageText } from '../test/support/page.ts';
import { Folder } from '../test/support/process.ts';
import { PromiseBroken } from './support/ledger.ts';

const SCRIPT = new URL('superset-site.py', import.meta.url).pathname;
const AUDIENCE = 'superset';
/**
 * The page in `examples/` defines the configuration, the permissions of the guest role, and the domain that may
 * embed the dashboard.
 */
const page = pageText('examples/superset/README.md');
const [config = ''] = codeBlocks(page, 'python');
const [rolePermissions = ''] = /^1\. Create the role .*$/m.exec(page) ?? [];
const permissions = [...rolePermissions.matchAll(/`(can [a-z ]+) on (\w+)`/g)].map(([, permission, view]) => [
  permission!.replaceAll(' ', '_'),
  view!,
]);
const [, allowedDomain = ''] = /enter `([^`]+)` as an allowed domain/.exec(page) ?? [];
const TABLES = ['orders', 'invoices'] as const;
type Table = (typeof TABLES)[number];

/**
 * Ordinary values, and values that SQL, SQLite, SQLAlchemy, Jinja or JSON could read as more than a value.
 */
const values = [
  'acme',
  'ACME',
  'acme-7',
  "O'Brien",
  "''",
  "' or '1' = '1",
  "') or (1 = 1) --",
  "x' union select customer from orders --",
  '"quoted"',
  '`x`; drop table orders; --',
  'back\\slash',
  "\\' or 1=1 --",
  '50%',
  '%s %(x)s :name ?',
  '{{ 1 }}',
  '{% if 1 %}x{% endif %}',
  '{# x #}',
  '{ not a template }',
  `\${x}`,
  '/* x */',
  '-- x',
  'a;b',
  'Zürich 東京 🙂',
  'e\u0301',
  '\u00e9',
  'tab\there',
  'line\nfeed',
  'trailing ',
  ' leading',
  'NULL',
  '1',
  '1.0',
  '01',
];

/** Customers, each with one value or with a list of two. */
const customers: readonly (string | readonly string[])[] = [
  ...values,
  ["O'Brien", "') or (1 = 1) --"],
  ['acme', '1'],
  ['50%', 'trailing '],
  [],
];

export const customerCount = customers.length;

interface SupersetFigures {
  version: string;
  customers: number;
  /** Customers for whom no token was minted. */
  refused: number;
  /** Responses of Superset that were compared. */
  answers: number;
  rows: number;
}

/** Returns the version of Superset that this Python has; undefined if it has none. */
export function versionOfSuperset(python: string): string | undefined {
  const { status, stdout } = spawnSync(python, [
    '-c',
    'from importlib.metadata import version; print(version("apache-superset"))',
  ]);
  return status === 0 ? String(stdout).trim() : undefined;
}

/** Throws `PromiseBroken` if a customer sees a row of another one, or misses one of its own. */
export async function viewInSuperset({
  kind,
  python,
  version,
  onCustomer,
}: {
  kind: DatabaseKind;
  python: string;
  version: string;
  onCustomer: (done: number) => void;
}): Promise<SupersetFigures> {
  await using superset = await Superset.start(python);
  const site = await EmbedSite.start(kind);
  const figures = { version, customers: customers.length, refused: 0, answers: 0, rows: 0 };
  try {
    await putIntegration(site, superset);
    for (const [index, customer] of customers.entries()) {
      const id = `customer-${index}`;
      await site.createGroup({ user_group_id: id, name: id, properties: { customer } });
      const minted = await site.mint({ integration: 'superset', user_group_id: id });
      if (minted.status === 422) figures.refused++;
      else {
        const { token } = minted.json.embed_token;
        if (figures.answers === 0) {
          await superset.open(token);
          await assertSqlRefused(superset, token);
        }
        for (const table of TABLES) {
          const rows = await superset.rowsOf(table, token);
          assertOwn(customer, table, rows);
          figures.answers++;
          figures.rows += rows.length;
        }
      }
      onCustomer(index + 1);
    }
    await assertForeignRefused(superset);
    return figures;
  } finally {
    await site.service.end();
  }
}

function putIntegration(site: EmbedSite, { started }: Superset): Promise<unknown> {
  return site.put('superset', {
    type: 'superset',
    secret: SECRET,
    settings: {
      audience: AUDIENCE,
      resources: [{ type: 'dashboard', id: started.dashboard }],
      row_level_security: TABLES.map((table) => ({
        dataset: started.charts[table].dataset_id,
        column: 'customer',
        value: { property: 'customer' },
      })),
      string_escapes: 'standard',
      properties: ['customer'],
    },
  });
}

/** Returns the rows for a value: each value has a different number of rows in each table. */
function rowsFor(table: Table, value: string): string[] {
  return Array.from({ length: values.indexOf(value) + TABLES.indexOf(table) + 1 }, () => value);
}

function assertOwn(customer: string | readonly string[], table: Table, rows: readonly string[]): void {
  const own = [customer].flat().flatMap((value) => rowsFor(table, value));
  const [seen, expected] = [rows.toSorted(), own.toSorted()].map((each) => JSON.stringify(each));
  if (seen !== expected)
    throw new PromiseBroken(`${JSON.stringify(customer)} sees ${seen} of ${table} instead of ${expected}`);
}

/**
 * Checks that Superset refuses a forged token: otherwise the rig would pass with a Superset that checks
 * nothing.
 */
async function assertForeignRefused(superset: Superset): Promise<void> {
  const forged = 'eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.e30.bm90LWEtc2lnbmF0dXJl';
  const { status } = await superset.query('orders', forged);
  if (status === 200) throw new PromiseBroken('Superset accepts a forged token');
}

/** Checks that a guest cannot send its own SQL, with which functions read rows that no rule restricts. */
async function assertSqlRefused(superset: Superset, token: string): Promise<void> {
  const sqlExpression = 'upper(customer)';
  const column = { expressionType: 'SQL', label: 'x', sqlExpression };
  for (const query of [
    { columns: [column] },
    { metrics: [column] },
    { orderby: [[column, true]] },
    { filters: [{ col: column, op: '==', val: 'ACME' }] },
    { extras: { where: `${sqlExpression} = 'ACME'` } },
    { metrics: [], extras: { having: `max(${sqlExpression}) = 'ACME'` } },
  ]) {
    const { status } = await superset.query('orders', token, query);
    if (status !== 403) throw new PromiseBroken(`Superset answers ${status} to ${JSON.stringify(query)}`);
  }
}

interface Started {
  url: string;
  dashboard: string;
  dashboard_id: number;
  charts: Record<Table, { slice_id: number; dataset_id: number }>;
}

const LOG_CHARACTERS = 5_000;

class Superset implements AsyncDisposable {
  started!: Started;
  readonly #child: ChildProcess;
  readonly #folder: Folder;
  #log = '';

  static async start(python: string): Promise<Superset> {
    const folder = new Folder();
    const tables = Object.fromEntries(
      TABLES.map((table) => [table, values.flatMap((value) => rowsFor(table, value))]),
    );
    const guests = { secret: SECRET, audience: AUDIENCE, permissions, allowed_domain: allowedDomain };
    const site = { config, ...guests, tables };
    writeFileSync(folder.join('site.json'), JSON.stringify(site));
    const child = spawn(python, [SCRIPT, folder.path], { stdio: ['ignore', 'pipe', 'pipe'] });
    const superset = new Superset(child, folder);
    for await (const line of createInterface(child.stdout)) {
      if (!line.startsWith('{"url"')) continue;
      superset.started = JSON.parse(line) as Started;
      return superset;
    }
    folder[Symbol.dispose]();
    throw new Error(`Superset did not start:\n${superset.#log}`);
  }

  private constructor(child: ChildProcess, folder: Folder) {
    this.#child = child;
    this.#folder = folder;
    child.stderr!.setEncoding('utf8').on('data', (text: string) => {
      this.#log = (this.#log + text).slice(-LOG_CHARACTERS);
    });
  }

  /** Loads what a browser loads before the charts of the embedded dashboard. */
  async open(token: string): Promise<void> {
    const { url, dashboard, dashboard_id } = this.started;
    const headers = { referer: 'https://app.example.com/', 'x-guesttoken': token };
    for (const path of [
      `/embedded/${dashboard}`,
      '/api/v1/me/roles/',
      ...['', '/charts', '/datasets'].map((part) => `/api/v1/dashboard/${dashboard_id}${part}`),
    ]) {
      const { status } = await fetch(url + path, { headers });
      if (status !== 200) throw new PromiseBroken(`Superset answers ${status} to ${path}`);
    }
  }

  async rowsOf(table: Table, token: string): Promise<string[]> {
    const { status, text } = await this.query(table, token);
    if (status !== 200) throw new PromiseBroken(`Superset answers ${status}: ${text.slice(0, 1_000)}`);
    const { result } = JSON.parse(text) as { result: { data: { customer: string }[] }[] };
    return result[0]!.data.map(({ customer }) => customer);
  }

  /** Sends the query of a chart of the embedded dashboard, with these changes. */
  async query(table: Table, token: string, changes: object = {}): Promise<{ status: number; text: string }> {
    const { slice_id, dataset_id } = this.started.charts[table];
    const form_data = {
      slice_id,
      dashboardId: this.started.dashboard_id,
      datasource: `${dataset_id}__table`,
      viz_type: 'table',
    };
    const response = await fetch(`${this.started.url}/api/v1/chart/data`, {
      method: 'POST',
      headers: { accept: 'application/json', 'content-type': 'application/json', 'x-guesttoken': token },
      body: JSON.stringify({
        datasource: { id: dataset_id, type: 'table' },
        queries: [{ columns: ['customer'], row_limit: 10_000, ...changes }],
        form_data,
        result_format: 'json',
        result_type: 'full',
      }),
    });
    return { status: response.status, text: await response.text() };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill('SIGKILL');
    this.#folder[Symbol.dispose]();
  }
}
