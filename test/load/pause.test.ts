// Contract: a pause of the process changes no verdict about properties or their schema. A check that gets no
// processor time before its deadline is answered with 503.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { describeOnEachDatabase } from '../support/database.ts';
import type { TestResponse } from '../support/http.ts';
import { createApiToken, Folder, type Service, serve, served } from '../support/process.ts';

const PAUSES_MS = [50, 300, 1_000, 3_000];
const MAX_ROUNDS = 10;
const CALLERS = 6;

const member = { type: 'array', items: { type: 'string', pattern: '^[a-z0-9-]+$' } };
const schema = { properties: { plan: { enum: ['gold'] } }, additionalProperties: member };
/** Takes so long to check that both threads are used, and that pauses interrupt them. */
const large = Object.fromEntries(
  Array.from({ length: 90 }, (_, key) => [`k${key}`, Array.from({ length: 90 }, () => 'a-1')]),
);

type Call = (service: Service, token: string, caller: number) => Promise<TestResponse>;

const call: Call = (service, token, caller) => {
  const properties = { plan: 'gold', ...(caller % 2 === 0 && large) };
  return service.call(token, 'PUT', `/v1/user-groups/paused-${caller}`, { name: 'Paused', properties });
};
const callInvalidly: Call = (service, token, caller) =>
  service.call(token, 'GET', '/api/user', {
    user_group_id: `never-${caller}`,
    name: 'Never',
    properties: { ...large, plan: 'lead' },
  });
const storeSchema: Call = (service, token) =>
  service.call(token, 'PUT', '/v1/property-schema', { schema, mode: 'enforce' });

describeOnEachDatabase('A process that is paused again and again', (kind) => {
  it('rejects neither valid properties nor a valid schema, and accepts no invalid properties', async () => {
    using folder = new Folder();
    await using database = await kind.create();
    await using service = await serve(folder, { env: database.env });
    const { token } = await createApiToken(folder, ['--permission', 'admin'], { env: database.env });
    // Refused with 503 while a busy machine starts the threads that try the schema.
    const stored = await served(() => storeSchema(service, token, 0));
    assert.equal(stored.status, 201, stored.text);
    const answers: string[][] = [[], [], []];
    const isDecided = () => answers.every((each) => each.some((answer) => !UNAVAILABLE.has(answer)));
    const pauses = pauseUntil(isDecided, service);
    await Promise.all(
      [call, callInvalidly, storeSchema].map((each, index) =>
        collectUntil(pauses, answers[index]!, (caller) => each(service, token, caller)),
      ),
    );
    const [valid, invalid, schemas] = answers;
    assert.deepEqual(unexpected(valid!, '200', '201'), []);
    assert.deepEqual(unexpected(invalid!, 'properties_invalid'), []);
    assert.deepEqual(unexpected(schemas!, '200'), []);
    assert.ok(isDecided(), 'each check was refused');
    const { status } = await call(service, token, 0);
    assert.ok(status === 200 || status === 201, `status ${status}`);
  });
});

const UNAVAILABLE = new Set(['overloaded', 'database_unavailable']);

function unexpected(answers: readonly string[], ...expected: string[]): string[] {
  return answers.filter((answer) => !expected.includes(answer) && !UNAVAILABLE.has(answer));
}

/** Pauses the service at least once for each duration, and again while a busy machine decides no check. */
async function pauseUntil(isDecided: () => boolean, service: Service): Promise<void> {
  for (let round = 0; round === 0 || (round < MAX_ROUNDS && !isDecided()); round += 1) {
    for (const ms of PAUSES_MS) {
      await sleep(300);
      service.signal('SIGSTOP');
      await sleep(ms);
      service.signal('SIGCONT');
    }
    await sleep(300);
  }
}

/** Adds the codes of problems, and the statuses of other responses, until the pauses end. */
async function collectUntil(
  end: Promise<void>,
  answers: string[],
  send: (caller: number) => Promise<TestResponse>,
): Promise<void> {
  let isOver = false;
  void end.then(() => {
    isOver = true;
  });
  const run = async (caller: number) => {
    while (!isOver) {
      const { status, json } = await send(caller);
      answers.push(json.code ?? String(status));
    }
  };
  await Promise.all(Array.from({ length: CALLERS }, (_, caller) => run(caller)));
}
