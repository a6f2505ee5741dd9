// Detects exposed secrets in logs, in the output of commands and in responses. Every service and every request of the
// tests and the rigs is watched, and a process that detects an exposure exits with 1.

import type { TestResponse } from './http.ts';

/** Matches tokens and key ring lines. */
const SECRET = /ug[ta]_[0-9A-Za-z]{49,52}|whsec_[0-9A-Za-z+/=]{32,88}|\b[0-9a-f]{8}:[\w-]{43}\b/g;
/** Matches the same, truncated or percent-encoded. */
const SECRET_SHAPE = /ug[ta](?:_|%5f)[0-9a-z]{16}|whsec(?:_|%5f)[0-9a-z+/=]{16}|\b[0-9a-f]{8}:[\w-]{43}/i;
/**
 * Matches a token of any format in a response: an imported one has the format of the system that issued it.
 */
const RETURNED_TOKEN = /"token":"([\w-]{25,})"/g;
/** Matches requests whose response contains the text of an API token. */
const ISSUES =
  /^POST (?:\/v1\/api-tokens|\/console\/api-tokens\/-\/new|\/(?:v1|console)\/api-tokens\/\d+\/rotate)$/;
const API_TOKEN = /uga_[0-9A-Za-z]{16}/;
/** Start of the part that identifies a secret which is truncated, encoded or without its prefix. */
const PART_FROM = 9;
const PART_LENGTH = 16;
const RUN = new RegExp(`[\\w-]{${PART_LENGTH},}`, 'g');
const LONGEST = 60;
const NOTHING = Buffer.alloc(0);
const NO_PARTS: ReadonlySet<string> = new Set();
const MAX_SHOWN = 10;

export class Watch {
  readonly #secrets = new Set<string>();
  readonly #credentials = new Set<string>();
  readonly exposures: string[] = [];

  /** Records the secrets in a text that may contain them. */
  learn(text: string): void {
    for (const [secret] of text.matchAll(SECRET)) this.#secrets.add(partOf(secret));
  }

  /** Records the credentials of a request, even those that are not tokens. */
  sent(authorizations: readonly string[], body: Buffer = NOTHING): void {
    this.learn(body.toString());
    for (const authorization of authorizations) {
      const credential = authorization.split(' ').at(-1)!;
      if (credential.length >= PART_FROM + PART_LENGTH) this.#credentials.add(partOf(credential));
    }
  }

  /** Returns a listener for chunks of output that must not contain secrets. */
  listener(where: string): (text: string) => void {
    return inChunks((text) => this.printed(where, text));
  }

  /** Returns a listener for chunks of output that may contain secrets. */
  learner(): (text: string) => void {
    return inChunks((text) => this.learn(text));
  }

  printed(where: string, text: string): void {
    if (SECRET_SHAPE.test(text) || hasPart(text, this.#secrets, this.#credentials))
      this.exposures.push(`${where}: ${withoutSecrets(text)}`);
  }

  /**
   * Reports exposed tokens: only a successful response may contain the token of a user group, and only one to
   * a request that issues an API token may contain an API token.
   */
  answered(request: string, { status, headers, text }: TestResponse): void {
    if (
      this.shows(JSON.stringify(headers)) ||
      (status >= 400 ? this.shows(text) : API_TOKEN.test(text) && !ISSUES.test(request))
    )
      this.exposures.push(`the response ${status} to ${withoutSecrets(request)}`);
    this.learn(text);
    if (status < 400)
      for (const [, token] of text.matchAll(RETURNED_TOKEN)) this.#secrets.add(partOf(token!));
  }

  shows(text: string): boolean {
    return SECRET_SHAPE.test(text) || hasPart(text, this.#secrets);
  }
}

/**
 * Prefixes each chunk with the end of the previous one, because a chunk may end in the middle of a secret.
 */
function inChunks(listener: (text: string) => void): (text: string) => void {
  let end = '';
  return (text) => {
    listener(end + text);
    end = text.slice(-LONGEST);
  };
}

function hasPart(text: string, parts: ReadonlySet<string>, more = NO_PARTS): boolean {
  for (const [run] of text.matchAll(RUN)) {
    for (let at = 0; at + PART_LENGTH <= run.length; at++) {
      const part = run.slice(at, at + PART_LENGTH);
      if (parts.has(part) || more.has(part)) return true;
    }
  }
  return false;
}

function partOf(secret: string): string {
  return secret.slice(PART_FROM, PART_FROM + PART_LENGTH);
}

function withoutSecrets(text: string): string {
  return text.replace(RUN, '[…]').slice(0, 500);
}

/** Watch of this process. */
export const watch = new Watch();

process.on('exit', () => {
  if (watch.exposures.length === 0) return;
  console.error(`exposed secrets: ${watch.exposures.length}`);
  for (const exposure of watch.exposures.slice(0, MAX_SHOWN)) console.error(exposure);
  process.exitCode = 1;
});
