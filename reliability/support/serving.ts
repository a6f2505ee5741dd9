// Serves a new database with several processes, for rigs that send requests to each of them.

import type { DatabaseKind } from '../../test/support/database.ts';
import { send, type TestResponse } from '../../test/support/http.ts';
import { Folder, serve, WITHOUT_FAILURE_LIMIT } from '../../test/support/process.ts';
import { PromiseBroken } from './ledger.ts';
import type { Random } from './random.ts';
import { DatabaseTokenIssuer } from './token-issuer.ts';

export interface Processes {
  kind: DatabaseKind;
  /** Processes that serve the database together; SQLite supports one. */
  processes: number;
}

/** Processes, and an API token with the permission `admin`. */
export interface Site {
  urls: readonly string[];
  token: string;
}

/** Site whose processes serve a new database, and access to it. */
interface Serving {
  site: Site;
  issuer: DatabaseTokenIssuer;
  folder: Folder;
  /** The settings of the database. */
  env: Record<string, string>;
}

/** Runs the work while processes serve a new database. */
export async function whileServing<Result>(
  { kind, processes }: Processes,
  work: (serving: Serving) => Promise<Result>,
): Promise<Result> {
  using folder = new Folder();
  await using database = await kind.create();
  await using services = new AsyncDisposableStack();
  const { env } = database;
  const urls: string[] = [];
  while (urls.length < processes)
    urls.push(services.use(await serve(folder, { env: { ...env, ...WITHOUT_FAILURE_LIMIT } })).url);
  await using issuer = await DatabaseTokenIssuer.open(database);
  const { token } = await issuer.create('default', 'Customer', 'admin');
  return await work({ site: { urls, token }, issuer, folder, env });
}

/**
 * Sends a request that must succeed, and can be repeated, to one of the processes. Throws `PromiseBroken`.
 */
export async function request(
  { urls, token }: Site,
  random: Random,
  [method, path, body]: readonly [method: string, path: string, body?: object],
): Promise<TestResponse['json']> {
  let response: TestResponse;
  do response = await send(random.pick(urls), { method, path, token, body });
  while (response.status === 503);
  const { status, json } = response;
  // A repeated deletion returns 404.
  if (status >= 300 && !(method === 'DELETE' && status === 404))
    throw new PromiseBroken(`${method} ${path} returned ${status} ${json?.code}`);
  return json;
}
