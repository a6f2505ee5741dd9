// Remembers the labels in each person's frame as of the last page; they decide nothing. With them, the page
// of a problem has its frame without a query, and the name of a workspace, which every page shows, is seldom read.

import type { FastifyRequest } from 'fastify';
import { redact } from '../../domain/secret.ts';
import { CallerHints } from '../../http/request/caller-hints.ts';
import { readApiToken } from '../../operations/api-token/api-token.ts';
import type { Context } from '../../operations/context.ts';
import type { Breadcrumbs } from '../markup/breadcrumbs.ts';
import { document, type Frame, type PageAssets } from '../markup/layout.ts';
import { digestOfSession, type Session, type SignedIn } from '../session/session.ts';

interface KnownFrame extends Pick<Frame, 'caller' | 'workspace'> {
  /** When the name of the workspace was read, in milliseconds of this process. */
  namedAt: number;
  assets: PageAssets;
}

const MAX_FRAMES = 1_024;
const MAX_NAME_AGE_MS = 10_000;

export class KnownFrames {
  readonly #breadcrumbs: Breadcrumbs;
  readonly #assets: () => Promise<PageAssets>;
  readonly #frames = new CallerHints<KnownFrame>(MAX_FRAMES);

  constructor(breadcrumbs: Breadcrumbs, assets: () => Promise<PageAssets>) {
    this.#breadcrumbs = breadcrumbs;
    this.#assets = assets;
  }

  /** Gives the pages of this request the person's navigation. */
  async add(context: Context, request: FastifyRequest, { caller, session }: SignedIn): Promise<void> {
    const digest = digestOfSession(session);
    const now = performance.now();
    const known = this.#frames.get(digest);
    const { workspace, namedAt } =
      known !== undefined && now - known.namedAt < MAX_NAME_AGE_MS
        ? known
        : {
            workspace: (await readApiToken(context, caller, caller.apiTokenId!)).workspaceName,
            namedAt: now,
          };
    const frame = { caller, workspace, namedAt, assets: await this.#assets() };
    this.#frames.add(digest, caller.workspaceId, frame);
    request.frame = this.find(session, request);
  }

  delete(session: Session): void {
    this.#frames.delete(digestOfSession(session));
  }

  /** Returns null if this thread has shown the person no page yet, or has forgotten it. */
  find(session: Session, { url }: FastifyRequest): FastifyRequest['frame'] {
    const known = this.#frames.get(digestOfSession(session));
    if (known === undefined) return null;
    const { assets, caller, workspace } = known;
    const breadcrumbs = this.#breadcrumbs.of(url, caller);
    return (view) => {
      const isProblem = view.status !== undefined && view.status >= 400;
      // A token may have been pasted in place of an id.
      const shown = breadcrumbs.filter(({ text }) => !isProblem || redact(text) === text);
      return document(assets, view, { url, breadcrumbs: shown, caller, workspace, session });
    };
  }
}
