// Webhook endpoints whose receivers do not respond as receivers should.

import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { cycle } from '../flow.ts';
import type { HostileCase } from '../hostile-case.ts';
import { namesOf } from '../tenant.ts';

const ENDPOINTS = 100;
const TRICKLE_MS = 500;

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

export const receiverCases: readonly HostileCase[] = Object.entries(receivers).map(([name, receive]) => ({
  name: `receivers-${name}`,
  prepare: async (attacker) => {
    const port = await listen(receive);
    const paths = namesOf('/v1/webhook-endpoints/endpoint', ENDPOINTS);
    const bodyOf = (index: number) => ({ url: `http://127.0.0.1:${port}/${index}`, event_types: ['*'] });
    await attacker.putAllowed(paths, bodyOf);
    const [id] = namesOf('group', 1);
    return [
      // Each change is an event for every endpoint.
      {
        connections: 1,
        request: (index) => attacker.request('PUT', `/v1/user-groups/${id}`, `{"name":"${index}"}`),
      },
      // Forgets how often the receivers have failed.
      {
        connections: 1,
        request: cycle(
          paths.map((path, index) => attacker.request('PUT', path, JSON.stringify(bodyOf(index)))),
        ),
      },
    ];
  },
}));
