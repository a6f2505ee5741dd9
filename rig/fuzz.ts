// Requests made from the description that the service gives of itself, right ones and wrong ones, and every answer
// held to it. A run is repeated by its seed, and a case that it has found by the path to it.

import fc from 'fast-check';
import type { OpenApi } from '../src/http/openapi/object.ts';
import { ApiDescription } from '../test/api-description.ts';
import type { DatabaseKind } from '../test/database.ts';
import { send } from '../test/http.ts';
import { Folder, serve } from '../test/process.ts';
import { type Case, casesOf } from './fuzz-case.ts';
import { type Account, Checker } from './fuzz-check.ts';
import { DatabaseIssuer, type Issuer } from './issuer.ts';
import { PromiseBroken } from './ledger.ts';

export interface FuzzOptions {
  kind: DatabaseKind;
  cases: number;
  /** Of the first caller; each further one has the next. */
  seed: number;
  /** Who send cases at one time, each in a workspace of its own. */
  callers: number;
  /** To one case, as an earlier run has printed it. */
  path?: string | undefined;
  onCase: (cases: number) => void;
}

export interface FuzzFigures {
  cases: number;
  /** Pairs of an operation and a status that it answered. */
  outcomes: number;
}

/** Throws `PromiseBroken`, with what repeats the case. */
export async function fuzz(options: FuzzOptions): Promise<FuzzFigures> {
  using folder = new Folder();
  const database = await options.kind.create();
  try {
    await using service = await serve(folder, { env: database.env });
    await using issuer = await DatabaseIssuer.open(database);
    const accounts: Account[] = [];
    while (accounts.length < options.callers)
      accounts.push(await accountOf(service.url, issuer, `caller ${accounts.length}`));
    return await fuzzService(service.url, accounts, options);
  } finally {
    await database.drop();
  }
}

/** The same with a service that runs. */
export async function fuzzService(
  url: string,
  accounts: readonly Account[],
  { cases, seed, path, onCase }: Omit<FuzzOptions, 'kind' | 'callers'>,
): Promise<FuzzFigures> {
  const document = (await send(url, { path: '/openapi.json' })).json as OpenApi;
  const description = new ApiDescription(document);
  const arbitrary = casesOf(description, document.components.schemas);
  const outcomes = new Set<string>();
  const seen = (operationId: string, status: number) => outcomes.add(`${operationId} ${status}`);
  let done = 0;
  let found: string | null = null;
  const call = async (account: Account, index: number): Promise<void> => {
    const checker = new Checker({ url, description, account, seen });
    const property = fc.asyncProperty(arbitrary, async (trial) => {
      if (found !== null) return;
      await checker.run(trial);
      onCase(++done);
    });
    const numRuns = Math.ceil(cases / accounts.length);
    const details = await fc.check(property, {
      seed: seed + index,
      numRuns,
      ...(path !== undefined && { path }),
    });
    if (details.failed) found ??= failure(details);
  };
  await Promise.all(accounts.map(call));
  if (found !== null) throw new PromiseBroken(found);
  return { cases: done, outcomes: outcomes.size };
}

function failure({ seed, counterexample, counterexamplePath, errorInstance }: fc.RunDetails<[Case]>): string {
  const [trial] = counterexample!;
  const { check, operationId } = trial;
  const { message } = errorInstance as Error;
  return `${check} of ${operationId}: ${message}\n${fc.stringify(trial)}\nrepeat with --seed ${seed} --path ${counterexamplePath}`;
}

export async function accountOf(url: string, issuer: Issuer, workspace: string): Promise<Account> {
  const own = await issuer.create(workspace, 'Customer');
  const revoked = await issuer.create(workspace, 'Customer');
  await issuer.revoke(revoked.id);
  return {
    token: own.token,
    revoked: revoked.token,
    others: {
      'another workspace': (await issuer.create(`${workspace}, next door`, 'Customer')).token,
      'another environment': (await issuer.create(workspace, 'Testing')).token,
    },
    cursor: await cursorOf(url, own.token),
  };
}

/** Of the second page, where each page has one group. */
async function cursorOf(url: string, token: string): Promise<string> {
  const path = '/v1/user-groups';
  for (const id of ['first', 'second'])
    await send(url, { method: 'POST', path, token, body: { user_group_id: `of the list, ${id}`, name: id } });
  const { json } = await send(url, { path: `${path}?limit=1`, token });
  return json.next_cursor;
}
