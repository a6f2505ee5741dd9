// The sample files: SQLite databases with the orders of the demo customers. They stand for the databases of
// customers, which the service never opens.

import { existsSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { DatabaseUrl } from '../config.ts';
import { createUnlessExists } from '../system/atomic-file.ts';
import { demoCustomers, months, type Sample, samples } from './sample-data.ts';

export interface MonthlyRevenue {
  month: string;
  revenue: number;
}

/** The values of its parameters are bound, never part of the text. */
export const REVENUE_SQL = `SELECT substr(ordered_on, 1, 7) AS month,
       sum(amount) AS revenue
FROM orders
WHERE customer_id = :customer_id
GROUP BY month
ORDER BY month`;

/** Returns a path beside the database, where only its process writes; null for PostgreSQL: no shared files. */
export function demoDirectoryPath(url: DatabaseUrl): string | null {
  return url.engine === 'sqlite' ? join(dirname(url.path), 'demo') : null;
}

/** Creates the files that are missing. Throws Node's error if that fails. */
export function createSampleFiles(directory: string): void {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  for (const sample of samples) {
    const path = samplePath(directory, sample);
    if (!existsSync(path)) createUnlessExists(path, (unfinished) => writeOrders(unfinished, sample));
  }
}

function writeOrders(path: string, sample: Sample): void {
  using database = new DatabaseSync(path);
  database.exec(`BEGIN;
    CREATE TABLE orders (
      order_id INTEGER PRIMARY KEY,
      customer_id TEXT NOT NULL,
      ordered_on TEXT NOT NULL,
      amount INTEGER NOT NULL
    ) STRICT;
    CREATE INDEX orders_by_customer ON orders (customer_id, ordered_on);`);
  const insert = database.prepare('INSERT INTO orders (customer_id, ordered_on, amount) VALUES (?, ?, ?)');
  for (const { properties, orders } of demoCustomers.filter((customer) => customer.sample === sample)) {
    for (const [index, amounts] of orders.entries()) {
      for (const [day, amount] of amounts.entries()) {
        insert.run(properties.customer_id, `${months[index]}-0${day + 1}`, amount);
      }
    }
  }
  database.exec('COMMIT');
}

/** Reads the rows of one customer. Returns an error if the file is missing or damaged. */
export function readRevenue(
  directory: string,
  sample: Sample,
  customerId: string,
): MonthlyRevenue[] | { error: string } {
  const path = samplePath(directory, sample);
  if (!existsSync(path)) return { error: `The sample file ${sample}.db is missing.` };
  try {
    using database = new DatabaseSync(path, { readOnly: true });
    const rows = database.prepare(REVENUE_SQL).all({ customer_id: customerId });
    return rows.map(({ month, revenue }) => ({ month: String(month), revenue: Number(revenue) }));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_SQLITE_ERROR') throw error;
    return { error: `The sample file ${sample}.db cannot be read.` };
  }
}

function samplePath(directory: string, sample: Sample): string {
  return join(directory, `${sample}.db`);
}
