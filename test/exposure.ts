// Secrets that come out where none may: in a log, in the output of a command, in an answer. Every service and every
// request of the tests and the rigs is watched, and a process that has seen one come out ends with 1.

import type { TestAnswer } from './http.ts';

/** Tokens, and lines of key rings. */
const SECRET = /ug[ta]_[0-9A-Za-z]{49,52}|\b[0-9a-f]{8}:[\w-]{43}\b/g;
/** The same cut off, or percent-encoded. */
const SECRET_SHAPE = /ug[ta](?:_|%5f)[0-9a-z]{16}|\b[0-9a-f]{8}:[\w-]{43}/i;
/** A token of any form, in an answer: an imported one looks as its origin has made it. */
const ANSWERED_TOKEN = /"token":"([\w-]{25,})"/g;
const API_TOKEN = /uga_[0-9A-Za-z]{16}/;
/** The part by which a secret is known again where it is cut off, encoded, or has lost its prefix. */
const PART_FROM = 9;
const PART_LENGTH = 16;
const RUN = new RegExp(`[\\w-]{${PART_LENGTH},}`, 'g');
const LONGEST = 60;
const NOTHING = Buffer.alloc(0);
const MAX_SHOWN = 10;

export class Watch {
  readonly #secrets = new Set<string>();
  readonly #credentials = new Set<string>();
  readonly exposures: string[] = [];

  /** Takes note of all secrets in a text in which they may be. */
  learn(text: string): void {
    for (const [secret] of text.matchAll(SECRET)) this.#secrets.add(partOf(secret));
  }

  /** What authenticates is to be kept even where it is no token. */
  sent(authorizations: readonly string[], body: Buffer = NOTHING): void {
    this.learn(body.toString());
    for (const authorization of authorizations) {
      const credential = authorization.split(' ').at(-1)!;
      if (credential.length >= PART_FROM + PART_LENGTH) this.#credentials.add(partOf(credential));
    }
  }

  /** For what prints where no secret may show, piece by piece. */
  listener(where: string): (text: string) => void {
    return inPieces((text) => this.printed(where, text));
  }

  /** For what prints secrets, piece by piece. */
  learner(): (text: string) => void {
    return inPieces((text) => this.learn(text));
  }

  printed(where: string, text: string): void {
    if (this.shows(text) || hasPart(text, this.#credentials))
      this.exposures.push(`${where}: ${withoutSecrets(text)}`);
  }

  /** Only a success may show the token of a user group, and none an API token. */
  answered(request: string, { status, headers, text }: TestAnswer): void {
    const head = JSON.stringify(headers);
    if (this.shows(head) || (status >= 400 ? this.shows(text) : API_TOKEN.test(text)))
      this.exposures.push(`the answer ${status} to ${withoutSecrets(request)}`);
    this.learn(text);
    if (status < 400)
      for (const [, token] of text.matchAll(ANSWERED_TOKEN)) this.#secrets.add(partOf(token!));
  }

  shows(text: string): boolean {
    return SECRET_SHAPE.test(text) || hasPart(text, this.#secrets);
  }
}

/** A piece may end in the middle of a secret, so each comes with the end of the one before. */
function inPieces(listener: (text: string) => void): (text: string) => void {
  let end = '';
  return (text) => {
    listener(end + text);
    end = text.slice(-LONGEST);
  };
}

function hasPart(text: string, parts: ReadonlySet<string>): boolean {
  for (const [run] of text.matchAll(RUN)) {
    for (let at = 0; at + PART_LENGTH <= run.length; at++)
      if (parts.has(run.slice(at, at + PART_LENGTH))) return true;
  }
  return false;
}

function partOf(secret: string): string {
  return secret.slice(PART_FROM, PART_FROM + PART_LENGTH);
}

function withoutSecrets(text: string): string {
  return text.replace(RUN, '[…]').slice(0, 500);
}

/** Of this process. */
export const watch = new Watch();

process.on('exit', () => {
  if (watch.exposures.length === 0) return;
  console.error(`${watch.exposures.length} secrets came out:`);
  for (const exposure of watch.exposures.slice(0, MAX_SHOWN)) console.error(exposure);
  process.exitCode = 1;
});
