// The connections to the customers' databases, by the name of a secret. They belong to the dashboard server: the
// catalogue of the service has only the names. Replace this file with your secret store.

import { readFileSync } from 'node:fs';
import pg from 'pg';

const file = process.env.CONNECTIONS ?? 'connections.json';

export const connections = new Map(
  Object.entries(JSON.parse(readFileSync(file, 'utf8'))).map(([name, connectionString]) => {
    // Without the last two, a database that does not respond would keep viewers waiting forever.
    const limits = { statement_timeout: 5_000, query_timeout: 6_000, connectionTimeoutMillis: 5_000 };
    const pool = new pg.Pool({ connectionString, max: 4, ...limits });
    // Without a listener, the loss of an idle connection would end the process.
    pool.on('error', ({ message }) => console.error(`${name}: ${message}`));
    return [name, pool];
  }),
);
