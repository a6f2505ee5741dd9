// Runs a JavaScript program of the matrix: reads requests as lines from standard input, and writes responses as lines to
// standard output; see client.ts.

import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';

const { call } = await import(pathToFileURL(process.argv[2]));

for await (const line of createInterface({ input: process.stdin })) {
  const [method, path, base64] = line.split('\t');
  const body = base64 ? JSON.parse(Buffer.from(base64, 'base64').toString()) : undefined;
  const { status, value } = await call(method, path, body).catch((error) => ({
    status: 'refused',
    value: String(error),
  }));
  console.log(`${status}\t${Buffer.from(JSON.stringify(value || null)).toString('base64')}`);
}
