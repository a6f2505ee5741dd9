// Secrets travel in this class, so that printing, logging or serialising one by mistake shows nothing.

import { inspect } from 'node:util';

/** What tokens and keys of this service look like, whole, cut off or percent-encoded; see `token.ts` and `key-ring.ts`. */
const SECRET_TEXT = /ug[ta](?:_|%5f)[0-9a-z]{16,}|\b[0-9a-f]{8}:[\w-]{43}/gi;
/** What may be a token that an import has brought: most have at least as many characters. */
const LONG_TEXT = /[\w-]{32,}/g;
const LONG_WORD = /[0-9A-Za-z]{32,}/g;
/** Stays whole: the `n` of a line feed is no part of the token behind it, and without it JSON would be none. */
const JSON_ESCAPE = /(\\(?:u[0-9a-f]{4}|.))/i;
const REDACTED = '[redacted]';

/**
 * The text, which may be JSON, with everything that looks like a token or a key replaced. The last line of defence for
 * logs and errors.
 */
export function redact(text: string): string {
  const parts = text.split(JSON_ESCAPE);
  return parts.map((part, index) => (index % 2 === 0 ? redactUnescaped(part) : part)).join('');
}

function redactUnescaped(text: string): string {
  return text.replace(SECRET_TEXT, REDACTED).replace(LONG_TEXT, redactOpaque);
}

/** Names of many words and numbers have fewer kinds of characters than what was drawn at random, or are cut by hyphens. */
function redactOpaque(text: string): string {
  if (/\d/.test(text) && /[a-z]/.test(text) && /[A-Z]/.test(text)) return REDACTED;
  return text.replace(LONG_WORD, (word) => (/\d/.test(word) && /[A-Za-z]/.test(word) ? REDACTED : word));
}

export class Secret {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  /** The secret itself. Each call is a place that a review should look at. */
  reveal(): string {
    return this.#text;
  }

  toString(): string {
    return REDACTED;
  }

  toJSON(): string {
    return REDACTED;
  }

  [inspect.custom](): string {
    return REDACTED;
  }
}
