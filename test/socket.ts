// Requests byte for byte, on a connection of their own: what no HTTP client would send.

import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { watch } from './exposure.ts';
import type { TestAnswer } from './http.ts';
import type { TestService } from './service.ts';

const ANSWER_WITHIN_MS = 20_000;

/** Sends bytes as they are, on a connection of their own; the answers, once the service has closed it. */
export function exchange(service: TestService, ...bytes: (string | Buffer)[]): Promise<TestAnswer[]> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(new URL(service.url).port), '127.0.0.1');
    const chunks: Buffer[] = [];
    socket.on('data', (chunk: Buffer) => chunks.push(chunk));
    socket.on('error', () => {}); // A service that closes while bytes are under way resets the connection.
    socket.on('close', () => resolve(answersIn(Buffer.concat(chunks).toString())));
    socket.setTimeout(ANSWER_WITHIN_MS, () => {
      socket.destroy();
      reject(new Error('the service did not close the connection'));
    });
    for (const part of bytes) socket.write(part);
  });
}

function answersIn(text: string): TestAnswer[] {
  const answers: TestAnswer[] = [];
  for (let rest = text; rest !== ''; ) {
    const end = rest.indexOf('\r\n\r\n') + 4;
    const [statusLine = '', ...lines] = rest.slice(0, end - 4).split('\r\n');
    const headers = Object.fromEntries(
      lines.map((line) => [
        line.slice(0, line.indexOf(':')).toLowerCase(),
        line.slice(line.indexOf(':') + 1).trim(),
      ]),
    );
    const body = Buffer.from(rest.slice(end)).subarray(0, Number(headers['content-length'])).toString();
    const status = Number(statusLine.split(' ')[1]);
    answers.push({ status, headers, text: body, json: JSON.parse(body) });
    watch.answered('a request byte for byte', answers.at(-1)!);
    rest = rest.slice(end + body.length);
  }
  return answers;
}

export async function exchangeOne(service: TestService, ...bytes: (string | Buffer)[]): Promise<TestAnswer> {
  const answers = await exchange(service, ...bytes);
  assert.equal(answers.length, 1, JSON.stringify(answers));
  return answers[0]!;
}
