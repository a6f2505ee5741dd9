// The servers of a DATABASE_URL with several hosts, one of which is the primary. A connection is opened to
// the host that was last found to be the primary.

import { isAboutHost } from './errors.ts';

/** Memory for `Hosts` of several threads, so that each knows the last primary that any of them has seen. */
export function lastPrimaryMemory(): SharedArrayBuffer {
  return new SharedArrayBuffer(2 * BigInt64Array.BYTES_PER_ELEMENT);
}

const [CLUSTER, TIMELINE] = [0, 1];

export class Hosts {
  readonly #urls: readonly string[];
  #current: number;
  /** Identifier of the cluster of the last primary, and its timeline. */
  readonly #lastPrimary: BigInt64Array<SharedArrayBuffer>;

  /** `first` is the index of the URL that is tried first. */
  constructor(urls: readonly string[], first = 0, lastPrimary = lastPrimaryMemory()) {
    this.#urls = urls;
    this.#current = first;
    this.#lastPrimary = new BigInt64Array(lastPrimary);
  }

  /** Index of the URL for the next connection. */
  get current(): number {
    return this.#current;
  }

  /** The URL with the host for the next connection. */
  get url(): string {
    return this.#urls[this.#current]!;
  }

  /** Each host alone, if there are several; they share what is known about the last primary. */
  get separate(): Hosts[] {
    if (this.#urls.length === 1) return [];
    return this.#urls.map((url) => new Hosts([url], 0, this.#lastPrimary.buffer));
  }

  /** Moves on from a host that is unreachable or not the primary. Concurrent failures of it count once. */
  skip(url: string): void {
    if (url === this.url) this.#current = (this.#current + 1) % this.#urls.length;
  }

  /**
   * Remembers the timeline of a primary. Throws if it is older than the last one: another server was promoted since.
   */
  refuseOlderTimeline(cluster: bigint, timeline: bigint): void {
    const last = this.#lastPrimary;
    if (Atomics.exchange(last, CLUSTER, cluster) !== cluster) Atomics.store(last, TIMELINE, 0n);
    for (let newest = Atomics.load(last, TIMELINE); ; ) {
      if (timeline < newest) throw new Error('the server is a former primary: another one was promoted');
      const found = Atomics.compareExchange(last, TIMELINE, newest, timeline);
      if (found === newest) return;
      newest = found;
    }
  }

  /** Whether another server of the cluster was promoted since: its timeline is newer. */
  isFormer(cluster: bigint, timeline: bigint): boolean {
    const last = this.#lastPrimary;
    return Atomics.load(last, CLUSTER) === cluster && timeline < Atomics.load(last, TIMELINE);
  }

  /**
   * Tries each host once, starting with the last known primary. Throws the error of the last host, or the
   * first error that is not about its host.
   */
  async tryEach<Result>(connect: () => Promise<Result>): Promise<Result> {
    for (let others = this.#urls.length - 1; ; others--) {
      const { url } = this;
      try {
        return await connect();
      } catch (error) {
        if (!isAboutHost(error)) throw error;
        this.skip(url);
        if (others === 0) throw error;
      }
    }
  }
}
