// Secrets are passed in this class, so that printing, logging or serializing one by mistake reveals nothing.

import { inspect } from 'node:util';

/** Tokens and keys of this service, complete, truncated or percent-encoded; see `token.ts` and `key-ring.ts`. */
const SECRET_TEXT = /ug[ta](?:_|%5f)[0-9a-z]{16,}|whsec(?:_|%5f)[0-9a-z+/=%]{16,}|\b[0-9a-f]{8}:[\w-]{43}/gi;
/** Possible imported tokens: most have at least this many characters. */
const LONG_TEXT = /[\w-]{32,}/g;
const LONG_WORD = /[0-9A-Za-z]{32,}/g;
/**
 * Parts that are kept intact. Escapes: the `n` of `\n` does not belong to a token that follows, and without
 * it the text would not be JSON. Ids of requests and traces: proxies and tracers make them of 32 hexadecimal
 * digits, like some tokens of other systems. No string of a caller can form such a member, because its quotes
 * are escaped.
 */
const KEPT = /(\\(?:u[0-9a-fA-F]{4}|.)|"(?:requestId|request_id|traceId)":"[0-9a-f]{32}")/;
const REDACTED = '[redacted]';

/**
 * Replaces everything in the text, which may be JSON, that looks like a token or a key. The last line of defence for logs
 * and errors.
 */
export function redact(text: string): string {
  const parts = text.split(KEPT);
  return parts.map((part, index) => (index % 2 === 0 ? redactUnescaped(part) : part)).join('');
}

function redactUnescaped(text: string): string {
  return text.replace(SECRET_TEXT, REDACTED).replace(LONG_TEXT, redactOpaque);
}

/** Long names, unlike random text, have fewer kinds of characters or are split by hyphens. */
function redactOpaque(text: string): string {
  if (/\d/.test(text) && /[a-z]/.test(text) && /[A-Z]/.test(text)) return REDACTED;
  return text.replace(LONG_WORD, (word) => (/\d/.test(word) && /[A-Za-z]/.test(word) ? REDACTED : word));
}

export class Secret {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  /** The secret itself. Reviews should check every call. */
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

/** A token of a group or a secret of a document as it is stored: encrypted, with the id of its key. */
export interface SealedSecret {
  keyId: string;
  ciphertext: string;
}
