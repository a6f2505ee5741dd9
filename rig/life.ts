// A service that runs while the disk under it fails, and callers who try again what is refused.

import { readFileSync } from 'node:fs';
import { send } from '../test/http.ts';
import { createApiToken, eventually, Folder, type Service, serve } from '../test/process.ts';
import { Conversation } from './conversation.ts';
import { SqliteExaminer } from './examiner.ts';
import { type Count, type Fault, Injection } from './injection.ts';
import { inspect } from './inspection.ts';
import { Ledger, PromiseBroken } from './ledger.ts';
import { Load } from './load.ts';
import type { Operation } from './model.ts';
import { processOf, QUIET, writeScript } from './program.ts';
import type { Random } from './random.ts';

const DATABASE = 'data/user-groups.db';
const GROUPS = 6;
const CALLERS = 4;
/** Together some hundred pages, each of which is copied back. */
const GROUPS_TO_FILL = 12;
/** Enough to write some pages of the database. */
const PROPERTIES = `{"text":"${'x'.repeat(6_000)}"}`;
/** A little less than at which SQLite copies the log. */
const FULL_LOG_PAGES = 9_900;
/** `mxFrame` of the index of the log. */
const PAGES_OFFSET = 16;
const REPLACED_TOKENS = 2;

export class Life implements AsyncDisposable {
  readonly folder = new Folder();
  readonly #tools = new Folder();
  readonly #random: Random;
  #service!: Service;
  #conversation!: Conversation;
  #turns = 0;

  constructor(random: Random) {
    this.#random = random;
  }

  async start(): Promise<void> {
    const { token: apiToken } = await createApiToken(this.folder);
    const url = () => this.#service.url;
    this.#conversation = new Conversation({ ledger: new Ledger(), remember: async () => {}, apiToken, url });
    await this.#serve();
  }

  /** How many answers said that the database is not available. */
  get refused(): number {
    return this.#conversation.refused;
  }

  /** The disk fails as long as `work` goes on. `ends`: of the names of the files, after that of the database. */
  async under(
    faults: readonly Fault[],
    ends: readonly string[],
    work: (injection: Injection) => Promise<void>,
  ): Promise<Count> {
    const paths = ends.map((end) => this.folder.join(DATABASE + end));
    const target = { paths, output: this.#tools.join('calls') };
    const injection = await Injection.attach(processOf(this.#tools.join('serve')), target, faults);
    try {
      await work(injection);
    } finally {
      await injection.end();
    }
    return injection.count;
  }

  /** One durable change. */
  async change(): Promise<void> {
    const name = `Name ${this.#turns++}`;
    await this.#insist('customer', { kind: 'create', name, mapping: null, properties: null });
    await this.#insist('customer', { kind: 'update', fields: { name } });
  }

  /** What a caller does to one group, each change until it is answered, and at most twice. */
  async turn(): Promise<void> {
    const id = `customer ${this.#turns++ % GROUPS}`;
    const name = `Name ${this.#turns}`;
    await this.#insist(id, { kind: 'create', name, mapping: null, properties: null });
    await this.#insist(id, { kind: 'update', fields: { name, properties: PROPERTIES } });
    const token = this.#conversation.ledger.tokensOf(id).at(-1);
    if (token !== undefined) await this.#insist(id, { kind: 'rotate', token, isGraceful: false });
    await this.#insist(id, { kind: 'delete' });
  }

  async #insist(id: string, operation: Operation): Promise<void> {
    if ((await this.#conversation.round(id, [operation])) === 0)
      await this.#conversation.round(id, [operation]);
  }

  /** Writes until the log has been copied back and is begun anew. */
  async emptyLog(): Promise<void> {
    while (this.#loggedPages() >= FULL_LOG_PAGES) await this.change();
  }

  /** Writes until the log is about to be copied back. */
  async fillLog(): Promise<void> {
    const [conversation, random] = [this.#conversation, this.#random];
    const load = new Load({
      conversation,
      random,
      groups: GROUPS_TO_FILL,
      callers: CALLERS,
      largeShare: 0.5,
    });
    await load.run(() => this.#loggedPages() < FULL_LOG_PAGES);
  }

  /** The index of the log counts the pages since it was begun anew. */
  #loggedPages(): number {
    return readFileSync(this.folder.join(`${DATABASE}-shm`)).readUInt32LE(PAGES_OFFSET);
  }

  /** Throws `PromiseBroken` where all changes are accepted, though they cannot be written. */
  async assertRefusing(): Promise<void> {
    const before = this.refused;
    await this.turn();
    if (this.refused === before) throw new PromiseBroken('changes are accepted that cannot be written');
  }

  /** Throws `PromiseBroken` where it is ready, though nothing can be written. */
  async assertNotReady(): Promise<void> {
    if ((await this.#readiness()) !== 503)
      throw new PromiseBroken('it is ready, though nothing can be written');
  }

  /** Throws `PromiseBroken` where calls are refused, or something that was answered is not there. */
  async assertWell(): Promise<void> {
    await eventually('readiness', async () => (await this.#readiness()) === 200);
    await eventually('calls that are not refused', async () => {
      const before = this.refused;
      await this.turn();
      return this.refused === before;
    });
    await this.inspect();
  }

  /** Only reads. Throws `PromiseBroken` where something that was answered is not there. */
  async inspect(): Promise<void> {
    const [conversation, random] = [this.#conversation, this.#random];
    const groups = await inspect({ conversation, random, replacedTokens: REPLACED_TOKENS });
    await new SqliteExaminer(this.folder.join(DATABASE)).examine(groups);
  }

  async #readiness(): Promise<number> {
    return (await send(this.#service.url, { path: '/readyz', token: null })).status;
  }

  /** Is killed, and started again. */
  async crash(): Promise<void> {
    await this.#service.kill();
    await this.#serve();
  }

  async #serve(): Promise<void> {
    this.#service = await serve(this.folder, { command: writeScript(this.#tools.join('serve')), env: QUIET });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#service?.kill();
    for (const folder of [this.folder, this.#tools]) folder[Symbol.dispose]();
  }
}
