// How the programs of this folder that are JavaScript are driven: requests come as lines on standard input, and
// answers go as lines to standard output; see ../client.ts.

import { createInterface } from 'node:readline';

/** Makes each call that is asked for. `call` gives a status and a value. */
export async function answerLines(call) {
  for await (const line of createInterface({ input: process.stdin })) {
    const [method, path, base64] = line.split('\t');
    const body = base64 ? JSON.parse(Buffer.from(base64, 'base64').toString()) : undefined;
    const { status, value } = await call(method, path, body).catch((error) => ({
      status: 'refused',
      value: String(error),
    }));
    console.log(`${status}\t${Buffer.from(JSON.stringify(value ?? null)).toString('base64')}`);
  }
}
