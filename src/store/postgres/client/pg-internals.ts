// Everything that relies on undocumented parts of `pg` and its pool, so that an upgrade is checked here.
// Verified with pg 8.23 and pg-pool 3.

import type pg from 'pg';

/** Sets the maximum size of the pool. `pg-pool` reads the option at each `connect`. */
export function setMaxConnections(pool: pg.Pool, max: number): void {
  pool.options.max = max;
}

/**
 * Passes an error of the constructor of a connection, which reads the files of TLS, to the caller that waits for the
 * connection. `pg-pool` throws it, for a caller in its queue into the event loop.
 */
export function reportConstructorErrors(pool: pg.Pool): void {
  const internals = pool as unknown as {
    newClient(caller: { callback(error: unknown): void }): void;
    _pulseQueue(): void;
  };
  const newClient = internals.newClient.bind(pool);
  internals.newClient = (caller) => {
    try {
      newClient(caller);
    } catch (error) {
      caller.callback(error);
      // Otherwise the next caller would wait for a connection that is never opened.
      internals._pulseQueue();
    }
  };
}

/**
 * Statements that are prepared in the session, text by name. `pg` adds each one when the server confirms it,
 * and expects submittables to look here before they parse.
 */
export function preparedStatements(connection: pg.Connection): Readonly<Record<string, string>> {
  return (connection as pg.Connection & { parsedStatements: Record<string, string> }).parsedStatements;
}

/** Casts a class of connections for the pool, whose types know no constructor with settings. */
export function poolClientClass<Config>(client: new (config: Config) => pg.Client): new () => pg.ClientBase {
  return client as unknown as new () => pg.ClientBase;
}

/** Decodes the name of the database in the URL: `pg` leaves reserved characters, such as "@", encoded. */
export function decodeDatabase(client: pg.Client, url: string): void {
  const { connectionParameters } = client as pg.Client & { connectionParameters: { database: string } };
  const name = new URL(url).pathname.slice(1);
  if (name !== '') connectionParameters.database = decodeURIComponent(name);
}
