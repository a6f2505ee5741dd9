// Remembers the labels in each person's frame as of the last page; they decide nothing. With them, the page
// of a problem has its frame without a query.

import type { FastifyRequest } from 'fastify';
import { redact } from '../domain/secret.ts';
import { digestOfApiToken, type TokenDigest } from '../domain/token.ts';
import { CallerHints } from '../http/request/caller-hints.ts';
import type { Breadcrumbs } from './breadcrumbs.ts';
import { document, type PageAssets, type SignedIn } from './layout.ts';
import type { Session } from './session.ts';

type KnownFrame = Omit<SignedIn, 'session'> & { assets: PageAssets };

const MAX_FRAMES = 1_024;

export class KnownFrames {
  readonly #breadcrumbs: Breadcrumbs;
  readonly #frames = new CallerHints<KnownFrame>(MAX_FRAMES);

  constructor(breadcrumbs: Breadcrumbs) {
    this.#breadcrumbs = breadcrumbs;
  }

  add(session: Session, { caller, workspace, assets }: KnownFrame): void {
    this.#frames.add(digestIn(session), { caller, workspace, assets });
  }

  delete(session: Session): void {
    this.#frames.delete(digestIn(session));
  }

  /** Returns null if this thread has shown the person no page yet, or has forgotten it. */
  find(session: Session, { url }: FastifyRequest): FastifyRequest['frame'] {
    const known = this.#frames.get(digestIn(session));
    if (known === undefined) return null;
    const { assets, ...labels } = known;
    const breadcrumbs = this.#breadcrumbs.of(url, labels.caller);
    return (view) => {
      const isProblem = view.status !== undefined && view.status >= 400;
      // A token may have been pasted in place of an id.
      const shown = breadcrumbs.filter(({ text }) => !isProblem || redact(text) === text);
      return document(assets, view, { url, breadcrumbs: shown, signedIn: { ...labels, session } });
    };
  }
}

/** Never null: a session contains the text of a token that was valid. */
function digestIn({ apiToken }: Session): TokenDigest {
  return digestOfApiToken(apiToken.reveal())!;
}
