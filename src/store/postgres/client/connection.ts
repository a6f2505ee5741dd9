// A connection that can be aborted, and that knows whether its server is the primary.
//
// An orderly close sends a message. A network that drops packets now may deliver it later, with the statement
// before it: an update would then be applied long after its caller was told that it failed, over a newer
// acknowledged one.

import { Socket } from 'node:net';
import pg from 'pg';
import { resetSocket } from '../../../system/reset-socket.ts';
import { endsSession } from './errors.ts';
import type { Hosts } from './hosts.ts';
import { decodeDatabase } from './pg-internals.ts';

/**
 * Whether the timeline may be read, because the server logs each failed statement, and whether a standby answers: a
 * pooler that sends reads to standbys also sends this one there, unlike `pg_is_in_recovery()`, which is volatile.
 */
const SERVER_STATE = `select has_function_privilege('pg_control_system()', 'execute'),
  current_setting('in_hot_standby', true)`;
/** Identifier of the cluster, which its standbys share, and its timeline, which each promotion raises. */
const TIMELINE = `select system_identifier::text, '0x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8)
  from pg_control_system()`;

/** Has `hosts` instead of `connectionString`. */
export interface ConnectionConfig extends pg.ClientConfig {
  hosts: Hosts;
  /** Setting of `pg` that its types lack. */
  scramMaxIterations: number;
}

export class Connection extends pg.Client {
  /** URL with the host of this connection. */
  readonly url: string;
  readonly #hosts: Hosts;
  readonly #socket: Socket;
  readonly #openedAt = performance.now();
  /** Set by the pool, which no longer uses connections of an earlier generation. */
  generation = 0;
  #isStandby = false;
  #isRoleChecked = false;
  /** Cluster and timeline of the server; null if it does not say. */
  #origin: [cluster: bigint, timeline: bigint] | null = null;

  constructor({ hosts, ...config }: ConnectionConfig) {
    const socket = new Socket();
    const { url } = hosts;
    super({ ...config, connectionString: url, stream: () => socket });
    decodeDatabase(this, url);
    this.url = url;
    this.#hosts = hosts;
    this.#socket = socket;
    // The caller of a statement gets the error too; without a listener the process would crash.
    this.on('error', () => {});
    // `pg` leaves a socket open whose encryption or login has failed on this side.
    this.connection.on('error', () => this.abandon());
    // PostgreSQL reports it when the session starts and whenever it changes.
    this.connection.on('parameterStatus', ({ parameterName, parameterValue }) => {
      if (parameterName === 'in_hot_standby') this.#isStandby = parameterValue === 'on';
    });
  }

  get ageMs(): number {
    return performance.now() - this.#openedAt;
  }

  /** Whether this process has been connected to a successor of the server since. */
  get isFormerPrimary(): boolean {
    return this.#origin !== null && this.#hosts.isFormer(...this.#origin);
  }

  /** Throws if the server is a standby or a former primary: it may resolve rotated tokens and return stale groups. */
  async requirePrimary(timeoutMs: number): Promise<void> {
    if (this.#isStandby) await this.#refuseStandby(timeoutMs);
    if (!this.#isRoleChecked) await this.#checkRole(timeoutMs);
  }

  async #refuseStandby(timeoutMs: number): Promise<void> {
    // PgBouncer repeats what was true when it first connected, so ask the server itself.
    const [isInRecovery] = await this.#ask('select pg_is_in_recovery()', timeoutMs);
    if (isInRecovery !== 'f') throw new Error('the server is a standby (in recovery), which may lag behind');
    this.#isStandby = false;
  }

  /** Refuses a standby that a pooler has chosen, and a former primary. */
  async #checkRole(timeoutMs: number): Promise<void> {
    try {
      const [isPermitted, isReadByStandby] = await this.#ask(SERVER_STATE, timeoutMs);
      if (isReadByStandby === 'on')
        throw new Error('a pooler sends reads to a standby, which may lag behind');
      if (isPermitted === 't') {
        const [cluster, timeline] = await this.#ask(TIMELINE, timeoutMs);
        const origin: [bigint, bigint] = [BigInt(cluster!), BigInt(timeline!)];
        this.#hosts.refuseOlderTimeline(...origin);
        this.#origin = origin;
      }
    } catch (error) {
      // Some managed servers have no timeline, or hide it.
      if (!(error instanceof pg.DatabaseError) || endsSession(error)) throw error;
    }
    this.#isRoleChecked = true;
  }

  async #ask(text: string, query_timeout: number): Promise<string[]> {
    const query = { text, query_timeout, rowMode: 'array' as const };
    const { rows } = await this.query<string[]>(query);
    return rows[0]!;
  }

  /** Lets the process exit while the connection is open. */
  unref(): void {
    this.#socket.unref();
  }

  /** Resets the connection and discards what has not reached the server. */
  abandon(): void {
    resetSocket(this.#socket);
  }
}
