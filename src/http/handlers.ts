// Handlers that run. Node and Fastify count connections: of a client that has gone they know nothing more, while its
// request is still on its way to the database.

import type { FastifyInstance } from 'fastify';

export class RunningHandlers {
  #running = 0;
  #onEnd: (() => void) | null = null;

  /** Of all routes that the server gets from now on. */
  constructor(server: FastifyInstance) {
    server.addHook('onRoute', (route) => {
      const { handler } = route;
      route.handler = async (request, reply) => {
        this.#running++;
        try {
          return await handler.call(server, request, reply);
        } finally {
          if (--this.#running === 0) this.#onEnd?.();
        }
      };
    });
  }

  /** Resolves when none runs. */
  async end(): Promise<void> {
    if (this.#running === 0) return;
    await new Promise<void>((resolve) => {
      this.#onEnd = resolve;
    });
  }
}
