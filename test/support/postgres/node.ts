// Creates and drops databases on a PostgreSQL server, and on all nodes of a Citus cluster.

import { SqlConnection } from '../sql.ts';

/** Creates an empty database, or a copy of the template. */
export async function createDatabase(server: URL, name: string, template?: string): Promise<void> {
  await run(server, `create database ${name}${template ? ` template ${template}` : ''}`);
}

export async function dropDatabase(server: URL, name: string): Promise<void> {
  await run(server, `drop database ${name} with (force)`);
}

/** Creates a database on the coordinator and on each worker: Citus configures the cluster per database. */
export async function createOnCluster(coordinator: URL, name: string): Promise<void> {
  const nodes = await nodesOf(coordinator);
  for (const node of nodes) {
    await createDatabase(node, name);
    await run(inDatabase(node, name), 'create extension citus');
  }
  const [first, ...workers] = nodes;
  const database = inDatabase(coordinator, name);
  await run(database, 'select citus_set_coordinator_host($1, $2)', [first!.hostname, first!.port]);
  for (const { hostname, port } of workers)
    await run(database, 'select citus_add_node($1, $2)', [hostname, port]);
}

export async function dropOnCluster(coordinator: URL, name: string): Promise<void> {
  for (const node of await nodesOf(coordinator)) await dropDatabase(node, name);
}

export function inDatabase(server: URL, name: string): URL {
  const url = new URL(server);
  url.pathname = `/${name}`;
  return url;
}

/** Returns the coordinator followed by the workers, with the addresses that the nodes use for each other. */
async function nodesOf(coordinator: URL): Promise<URL[]> {
  const rows = await run(coordinator, 'select nodename, nodeport from pg_dist_node order by groupid');
  return rows.map(({ nodename, nodeport }) => {
    const node = new URL(coordinator);
    node.hostname = nodename as string;
    node.port = String(nodeport);
    return node;
  });
}

async function run(url: URL, sql: string, values: unknown[] = []): Promise<Record<string, unknown>[]> {
  await using client = await SqlConnection.open(url.href);
  return (await client.query(sql, values)).rows;
}
