// The cost of minting an ES256 token, compared with node:crypto signing the same bytes on the same thread. The operation
// looks up the group in SQLite, fills the claims and signs; HTTP is not part of it.

import { generateKeyPairSync, sign } from 'node:crypto';
import { join } from 'node:path';
import { printTable } from '../src/commands/output.ts';
import { readConfig } from '../src/config.ts';
import { openForCommand } from '../src/database.ts';
import { operator } from '../src/domain/api-token.ts';
import { parseIntegration } from '../src/domain/embed-token/mint.ts';
import { parseStrictJson } from '../src/domain/json/strict-json.ts';
import { userGroupBody } from '../src/domain/request-body.ts';
import { loadKeyRing, registerActiveKey } from '../src/key-ring-source.ts';
import { createContext } from '../src/operations/context.ts';
import { mintEmbedToken } from '../src/operations/embed-token/embed-token.ts';
import { putIntegration } from '../src/operations/integration/integration.ts';
import { getOrCreateUserGroup } from '../src/operations/user-group/get-or-create.ts';
import { ensureWorkspace } from '../src/operations/workspace/workspace.ts';
import { median } from './median.ts';
import { userGroup } from './operation.ts';

const TARGET = 0.7;
const CONCURRENCY = 32;
const GROUPS = 1_000;
const INTEGRATION = '{"type":"jwt","settings":{"audience":"cube","properties":["plan","seats"]}}';

interface Options {
  seconds: number;
  rounds: number;
  folder: string;
}

export async function measureMinting({ seconds, rounds, folder }: Options): Promise<void> {
  const config = readConfig({ DATABASE_URL: `sqlite:${join(folder, 'user-groups.db')}` });
  const { store, close } = await openForCommand(config);
  try {
    const keyRing = await loadKeyRing(config, store);
    await registerActiveKey(keyRing, store, Date.now());
    const context = createContext({
      store,
      keyRing,
      publicUrl: 'https://groups.example.com',
      via: 'command_line',
    });
    const { workspaceId } = (await ensureWorkspace(store, 'bench', Date.now())).workspace;
    const caller = operator(workspaceId, 'Customer');
    const groups = Array.from({ length: GROUPS }, (_, index) => userGroup(String(index)));
    const bodies = groups.map((group) => userGroupBody.read(Buffer.from(group)));
    await Promise.all(bodies.map((group) => getOrCreateUserGroup(context, caller, group, undefined)));
    const body = parseIntegration(parseStrictJson(Buffer.from(INTEGRATION), 17));
    await putIntegration(context, caller, 'jwt', body, undefined);
    const { version } = await context.configs.of(store, caller);
    const authenticated = { ...caller, configVersion: version };
    const mint = async (index: number) => {
      const group = { userGroupId: `customer-${index % GROUPS}` };
      const request = { integration: 'jwt', group, viewer: 'user-31', resource: null };
      return (await mintEmbedToken(context, authenticated, request)).token.reveal();
    };
    const [head, payload] = (await mint(0)).split('.');
    const input = Buffer.from(`${head}.${payload}`);
    const { privateKey: key } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const bare = async () => {
      sign('sha256', input, { key, dsaEncoding: 'ieee-p1363' });
    };
    // As of groups in use, the instant of the last use is stored already.
    await Promise.all(Array.from({ length: GROUPS }, (_, index) => mint(index)));
    await context.usage.write();
    const figures: [number, number][] = [];
    for (let round = 0; round <= rounds; round++) {
      const pair: [number, number] = [await rate(bare, seconds), await rate(mint, seconds)];
      // The first round warms up.
      if (round > 0) figures.push(pair);
    }
    const ratio = median(figures.map(([signed, minted]) => minted / signed));
    printTable(
      ['', 'per second of processor time'],
      [
        ['node:crypto signs', median(figures.map(([signed]) => signed)).toFixed(0)],
        ['the service mints', median(figures.map(([, minted]) => minted)).toFixed(0)],
        ['ratio', `${ratio.toFixed(2)}, target ${TARGET} ${ratio >= TARGET ? 'reached' : 'missed'}`],
      ],
    );
  } finally {
    await close();
  }
}

/** Per second of processor time, which other work on the machine changes less than the time on the clock. */
async function rate(work: (index: number) => Promise<unknown>, seconds: number): Promise<number> {
  const startedAt = performance.now();
  const before = process.threadCpuUsage();
  let count = 0;
  while (performance.now() < startedAt + seconds * 1_000) {
    await Promise.all(Array.from({ length: CONCURRENCY }, () => work(count++)));
  }
  const { user, system } = process.threadCpuUsage(before);
  return (count * 1_000_000) / (user + system);
}
