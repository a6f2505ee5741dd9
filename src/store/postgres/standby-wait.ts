// While a synchronous standby is down, a commit waits for it without a time limit and leaves its session on the server.
// Refuses further writes until then: otherwise they would use up the connections that reads need.

import { statement } from '../statement.ts';
import { TransientError } from './client/errors.ts';
import type { ConnectionPool } from './client/pool.ts';

/**
 * Commits of this user that wait, in all processes, unless those of this session would not: a standby that is up takes
 * less than a second.
 */
const WAITING = statement('waiting_for_standby')`
  select 1 from pg_stat_activity waiting join pg_stat_activity own on own.pid = pg_backend_pid()
  where waiting.wait_event = 'SyncRep' and waiting.usename = current_user
    and waiting.query_start < own.query_start - interval '1 second'
    and current_setting('synchronous_commit') not in ('off', 'local')
  limit 1`;

export class StandbyWait {
  readonly #pool: ConnectionPool;
  /** Whether a write got no response, so that commits may be waiting. */
  #isSuspected = false;

  constructor(pool: ConnectionPool) {
    this.#pool = pool;
  }

  /** Runs `write`. Throws `TransientError` without running it while commits wait. */
  async guard<Result>(write: () => Promise<Result>): Promise<Result> {
    if (this.#isSuspected) await this.#refuseWhileWaiting();
    try {
      return await write();
    } catch (error) {
      if (error instanceof TransientError && error.isUnresponsive) this.#isSuspected = true;
      throw error;
    }
  }

  async #refuseWhileWaiting(): Promise<void> {
    const waiting = await this.#pool.run((session) => session.query(WAITING));
    if (waiting.length > 0)
      throw new TransientError(new Error('commits wait for a synchronous standby'), 'refused', 'good');
    this.#isSuspected = false;
  }
}
