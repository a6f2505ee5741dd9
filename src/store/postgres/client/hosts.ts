// The servers of a DATABASE_URL with several hosts: one of them is the primary, and a connection is opened to the one
// that was found to be it last.

import { isAboutHost } from './errors.ts';

export class Hosts {
  readonly #urls: readonly string[];
  #current = 0;

  constructor(urls: readonly string[]) {
    this.#urls = urls;
  }

  /** The URL with the host for the next connection. */
  get url(): string {
    return this.#urls[this.#current]!;
  }

  /** The host of this URL is unreachable or not the primary. Concurrent failures of one host count once. */
  skip(url: string): void {
    if (url === this.url) this.#current = (this.#current + 1) % this.#urls.length;
  }

  /**
   * Tries each host once, from the one that was the primary last. Throws the error of the last host, or the first error
   * that has another cause than its host.
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
