// Runs a service whose disk fails, and callers that retry rejected operations.

import { readFileSync } from 'node:fs';
import { send } from '../../test/support/http.ts';
import { createApiToken, eventually, Folder, type Service, serve } from '../../test/support/process.ts';
import { type Fault, Injection } from '../support/injection.ts';
import { inspect } from '../support/inspection.ts';
import { SqliteIntegrityChecker } from '../support/integrity-checker.ts';
import { Ledger, PromiseBroken } from '../support/ledger.ts';
import { Load } from '../support/load.ts';
import type { Operation } from '../support/model.ts';
import { QUIET } from '../support/program.ts';
import type { Random } from '../support/random.ts';
import { Workload } from '../support/workload.ts';

const DATABASE = 'data/user-groups.db';
const GROUPS = 6;
const CALLERS = 4;
/** Groups that fill the log: about a hundred pages in total, each of which the checkpoint copies. */
const GROUPS_TO_FILL = 12;
/** Properties large enough to write some pages of the database. */
const PROPERTIES = `{"text":"${'x'.repeat(6_000)}"}`;
/** Number of pages slightly below the size at which SQLite starts a checkpoint. */
const FULL_LOG_PAGES = 9_900;
/** The offset of `mxFrame` in the WAL index. */
const PAGES_OFFSET = 16;
const REPLACED_TOKENS = 2;
const ENDED = /could not sync the database file/;

export class ProcessRun implements AsyncDisposable {
  readonly folder = new Folder();
  readonly #tools = new Folder();
  readonly #random: Random;
  #service!: Service;
  #workload!: Workload;
  #cycles = 0;

  constructor(random: Random) {
    this.#random = random;
  }

  async start(): Promise<void> {
    const { token: apiToken } = await createApiToken(this.folder);
    const url = () => this.#service.url;
    this.#workload = new Workload({ ledger: new Ledger(), persist: async () => {}, apiToken, url });
    await this.#serve();
  }

  /** Responses that reported the database as unavailable. */
  get refused(): number {
    return this.#workload.refused;
  }

  /**
   * Makes the disk fail while `work` runs. `suffixes` follow the name of the database in the names of the
   * affected files. Returns the number of failed calls.
   */
  async withFaults(
    faults: readonly Fault[],
    suffixes: readonly string[],
    work: () => Promise<void>,
  ): Promise<number> {
    const paths = suffixes.map((suffix) => this.folder.join(DATABASE + suffix));
    const target = { paths, output: this.#tools.join('calls') };
    const injection = await Injection.attach(this.#service.id, target, faults);
    try {
      await work();
    } finally {
      await injection.end();
    }
    await eventually('readiness', async () => (await this.#readiness()) === 200);
    return injection.failures;
  }

  /** Makes one durable change. */
  async change(): Promise<void> {
    const name = `Name ${this.#cycles++}`;
    await this.#sendTwice('customer', { kind: 'create', name, mapping: null, properties: null });
    await this.#sendTwice('customer', { kind: 'update', fields: { name } });
  }

  /** Sends the operations of a caller on one group; each is sent at most twice until it gets a response. */
  async cycle(): Promise<void> {
    const id = `customer ${this.#cycles++ % GROUPS}`;
    const name = `Name ${this.#cycles}`;
    await this.#sendTwice(id, { kind: 'create', name, mapping: null, properties: null });
    await this.#sendTwice(id, { kind: 'update', fields: { name, properties: PROPERTIES } });
    const token = this.#workload.ledger.tokensOf(id).at(-1);
    if (token !== undefined) await this.#sendTwice(id, { kind: 'rotate', token, isGraceful: false });
    await this.#sendTwice(id, { kind: 'delete' });
  }

  async #sendTwice(id: string, operation: Operation): Promise<void> {
    if ((await this.#workload.round(id, [operation])) === 0) await this.#workload.round(id, [operation]);
  }

  /** Writes until a checkpoint has completed and the log restarts, or a failed sync has ended the service. */
  async emptyLog(): Promise<void> {
    while (this.#loggedPages() >= FULL_LOG_PAGES && !this.#service.hasEnded) await this.change();
  }

  /** Writes until a checkpoint is imminent. */
  async fillLog(): Promise<void> {
    const [workload, random] = [this.#workload, this.#random];
    const load = new Load({
      workload,
      random,
      groups: GROUPS_TO_FILL,
      callers: CALLERS,
      largeShare: 0.5,
    });
    await load.run(() => this.#loggedPages() < FULL_LOG_PAGES);
  }

  /** Returns the number of pages since the log was restarted, which the WAL index counts. */
  #loggedPages(): number {
    return readFileSync(this.folder.join(`${DATABASE}-shm`)).readUInt32LE(PAGES_OFFSET);
  }

  /** Throws `PromiseBroken` if all changes are accepted although they cannot be written. */
  async assertRejectingChanges(): Promise<void> {
    const before = this.refused;
    await this.cycle();
    if (this.refused === before)
      throw new PromiseBroken('changes were accepted although they cannot be written');
  }

  /** Throws `PromiseBroken` if the service reports ready although nothing can be written. */
  async assertNotReady(): Promise<void> {
    if ((await this.#readiness()) !== 503)
      throw new PromiseBroken('the service reports ready although nothing can be written');
  }

  /** Throws `PromiseBroken` if calls are rejected, or acknowledged data is lost. */
  async assertRecovered(): Promise<void> {
    await eventually('readiness', async () => (await this.#readiness()) === 200);
    await eventually('calls to be accepted', async () => {
      const before = this.refused;
      await this.cycle();
      return this.refused === before;
    });
    await this.inspect();
  }

  /** Only reads. Throws `PromiseBroken` if acknowledged data is lost. */
  async inspect(): Promise<void> {
    const [workload, random] = [this.#workload, this.#random];
    const groups = await inspect({ workload, random, replacedTokens: REPLACED_TOKENS });
    await new SqliteIntegrityChecker(this.folder.join(DATABASE)).check(groups);
  }

  /**
   * Returns the status of `/readyz`; starts the service again if a failed sync of a checkpoint has ended it.
   */
  async #readiness(): Promise<number> {
    const response = await send(this.#service.url, { path: '/readyz', token: null }).catch(() => null);
    if (response !== null) return response.status;
    const { signal, stdout } = await this.#service.exit();
    if (signal !== 'SIGKILL' || !ENDED.test(stdout))
      throw new PromiseBroken('the service ended without a failed sync of a checkpoint');
    await this.#serve();
    return this.#readiness();
  }

  /** Kills the service and restarts it. */
  async crash(): Promise<void> {
    await this.#service.kill();
    await this.#serve();
  }

  async #serve(): Promise<void> {
    this.#service = await serve(this.folder, { env: QUIET });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#service?.kill();
    for (const folder of [this.folder, this.#tools]) folder[Symbol.dispose]();
  }
}
