// Many webhook endpoints, most of whose receivers do not respond as they should.

import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { MAX_CONFIG_DELIVERIES } from '../../../src/operations/config/plan.ts';
import { cycle } from '../flow.ts';
import type { HostileCase } from '../hostile-case.ts';
import { namesOf, type Tenant } from '../tenant.ts';
import { renaming, storingSources } from './catalogues.ts';

const ENDPOINTS = 100;
const PATHS = namesOf('/v1/webhook-endpoints/endpoint', ENDPOINTS);
const TRICKLE_MS = 500;
/** Number of connections, each of which changes a group; each change is an event for every endpoint. */
const FAN_OUT = 64;
/** Number of documents in one change: their events cause the most deliveries that a call may. */
const DOCUMENTS = MAX_CONFIG_DELIVERIES / ENDPOINTS;

const receivers: Record<string, (socket: Socket) => void> = {
  hang: () => {},
  switch: (socket) => {
    socket.once('data', () => {
      socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: rig\r\n\r\n');
    });
  },
  reset: (socket) => {
    socket.once('data', () => socket.resetAndDestroy());
  },
  trickle: (socket) => {
    socket.once('data', () => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 60000\r\n\r\n'));
    const trickling = setInterval(() => socket.write('x'), TRICKLE_MS);
    socket.on('close', () => clearInterval(trickling));
  },
};

async function listen(receive: (socket: Socket) => void): Promise<number> {
  const server = createServer((socket) => {
    socket.on('error', () => {});
    receive(socket);
    socket.resume();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

/** Stores the endpoints, and returns the requests that store them. */
async function storeEndpoints(
  attacker: Tenant,
  receive: (socket: Socket) => void,
): Promise<readonly Uint8Array[]> {
  const port = await listen(receive);
  const bodyOf = (index: number) => ({ url: `http://127.0.0.1:${port}/${index}`, event_types: ['*'] });
  await attacker.putAllowed(PATHS, bodyOf);
  return PATHS.map((path, index) => attacker.request('PUT', path, JSON.stringify(bodyOf(index))));
}

const abnormalCases: readonly HostileCase[] = Object.entries(receivers).map(([name, receive]) => ({
  name: `receivers-${name}`,
  prepare: async (attacker) => {
    const puts = await storeEndpoints(attacker, receive);
    const [id] = namesOf('group', 1);
    return [
      // Each change is an event for every endpoint.
      {
        connections: 1,
        request: (index) => attacker.request('PUT', `/v1/user-groups/${id}`, `{"name":"${index}"}`),
      },
      // Replaces endpoints, so that the service forgets how often the receivers have failed.
      { connections: 1, request: cycle(puts) },
    ];
  },
}));

export const receiverCases: readonly HostileCase[] = [
  ...abnormalCases,
  {
    name: 'receivers-fan-out',
    prepare: async (attacker) => {
      await storeEndpoints(attacker, accept);
      const groups = namesOf('group', FAN_OUT);
      const request = (index: number) =>
        attacker.request('PUT', `/v1/user-groups/${groups[index % FAN_OUT]}`, `{"name":"${index}"}`);
      return [{ connections: FAN_OUT, request }];
    },
  },
  {
    name: 'receivers-config-changes',
    prepare: async (attacker) => {
      await storeEndpoints(attacker, accept);
      return [{ connections: 2, request: cycle(storingSources(attacker, DOCUMENTS)) }];
    },
  },
  {
    name: 'receivers-renames',
    prepare: async (attacker) => {
      await storeEndpoints(attacker, accept);
      return [await renaming(attacker, DOCUMENTS)];
    },
  },
  {
    // Each endpoint has many deliveries when it is deleted, and these go before it is created again.
    name: 'receivers-replaced',
    prepare: async (attacker) => {
      const puts = await storeEndpoints(attacker, () => {});
      const replacements = PATHS.flatMap((path, index) => [attacker.request('DELETE', path), puts[index]!]);
      const groups = namesOf('group', 16);
      const request = (index: number) =>
        attacker.request('PUT', `/v1/user-groups/${groups[index % groups.length]}`, `{"name":"${index}"}`);
      return [
        { connections: groups.length, request },
        { connections: 4, request: cycle(replacements) },
      ];
    },
  },
];

function accept(socket: Socket): void {
  socket.on('data', () => socket.write('HTTP/1.1 204 No Content\r\n\r\n'));
}
