// Sends valid and invalid requests generated from the service's API description, and checks every response against it.
// A seed repeats a run, and a path repeats a failing case.

import fc from 'fast-check';
import { ApiDescription } from '../test/support/api-description/api-description.ts';
import type { DatabaseKind } from '../test/support/database.ts';
import { send } from '../test/support/http.ts';
import { type Case, casesOf } from './fuzz/case.ts';
import { type Account, Checker } from './fuzz/check.ts';
import { PromiseBroken } from './support/ledger.ts';
import { whileServing } from './support/serving.ts';
import type { TokenIssuer } from './support/token-issuer.ts';

interface FuzzOptions {
  kind: DatabaseKind;
  cases: number;
  /** Seed of the first caller; each further caller increases it by one. */
  seed: number;
  /** Callers that send cases concurrently, each in a separate workspace. */
  callers: number;
  /** The path to one case, as printed by an earlier run. */
  path?: string | undefined;
  onCase: (cases: number) => void;
}

interface FuzzFigures {
  cases: number;
  /** Distinct pairs of an operation and a response status. */
  outcomes: number;
}

/** Throws `PromiseBroken` with the options that repeat the case. */
export function fuzz(options: FuzzOptions): Promise<FuzzFigures> {
  return whileServing({ kind: options.kind, processes: 1 }, async ({ site, issuer }) => {
    const url = site.urls[0]!;
    const accounts: Account[] = [];
    while (accounts.length < options.callers)
      accounts.push(await accountOf(url, issuer, `caller ${accounts.length}`));
    return fuzzService(url, accounts, options);
  });
}

export async function fuzzService(
  url: string,
  accounts: readonly Account[],
  { cases, seed, path, onCase }: Omit<FuzzOptions, 'kind' | 'callers'>,
): Promise<FuzzFigures> {
  const description = new ApiDescription((await send(url, { path: '/openapi.json' })).json);
  const arbitrary = casesOf(description);
  const outcomes = new Set<string>();
  const onResponse = (operationId: string, status: number) => outcomes.add(`${operationId} ${status}`);
  let done = 0;
  let found: string | null = null;
  const call = async (account: Account, index: number): Promise<void> => {
    const checker = new Checker({ url, description, account, onResponse });
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

export async function accountOf(url: string, issuer: TokenIssuer, workspace: string): Promise<Account> {
  const own = await issuer.create(workspace, 'Customer', 'admin');
  const revoked = await issuer.create(workspace, 'Customer');
  await issuer.revoke(revoked.id);
  return {
    token: own.token,
    revoked: revoked.token,
    others: {
      'another workspace': (await issuer.create(`${workspace}, neighbour`, 'Customer')).token,
      'another environment': (await issuer.create(workspace, 'Testing')).token,
    },
    cursor: await cursorOf(url, own.token),
  };
}

/** Returns the cursor of the second page, with one group per page. */
async function cursorOf(url: string, token: string): Promise<string> {
  const path = '/v1/user-groups';
  for (const id of ['first', 'second'])
    await send(url, { method: 'POST', path, token, body: { user_group_id: `of the list, ${id}`, name: id } });
  const { json } = await send(url, { path: `${path}?limit=1`, token });
  return json.next_cursor;
}
