// Resolves a token that a viewer presents: a user group token, or an embed token of type jwt.

import type { Caller } from '../../domain/api-token.ts';
import type { EffectiveMapping } from '../../domain/catalogue/catalogue.ts';
import { limits } from '../../domain/field.ts';
import { tenantOf } from '../../domain/tenant.ts';
import type { PresentedToken } from '../../domain/token.ts';
import { previousTokenUntil, type UserGroup } from '../../domain/user-group/user-group.ts';
import type { Context } from '../context.ts';
import { findInConfig } from '../document/environment-config.ts';
import { SMALL_BYTES } from '../machinery/cpu-queue.ts';
import { findByEmbedToken } from './find-by-embed-token.ts';
import { findResolvable } from './find-by-token.ts';

interface Resolution {
  userGroup: UserGroup;
  token:
    | { status: 'current'; expiresAt: null }
    | { status: 'retiring'; expiresAt: number }
    | { status: 'embed'; expiresAt: number };
}

export interface Viewer extends Resolution {
  /** null without a catalogue. */
  effective: EffectiveMapping | null;
}

/**
 * Processor time of writing JSON to a response relative to parsing it: a few large resolutions fill a turn.
 */
const WRITING_COST = 1 / 16;

/** Returns the group of a token that is valid now; null for every token that does not resolve. */
export async function identifyViewer(
  context: Context,
  caller: Caller,
  token: PresentedToken,
): Promise<Viewer | null> {
  // Embed tokens are longer than any issued or imported user group token.
  const isEmbedToken = token.reveal().length > limits.tokenCharacters.most;
  const identify = isEmbedToken ? identifyByEmbedToken : identifyByToken;
  const seen = await findInConfig(context, caller, () => identify(context, caller, token));
  if (seen === null) return null;
  const { found, config } = seen;
  const effective = config.catalogue.isEmpty ? null : config.catalogue.effective(found.userGroup);
  if (effective !== null && effective.bytes > SMALL_BYTES)
    await context.cpu.turn(Math.ceil(effective.bytes * WRITING_COST));
  return { ...found, effective };
}

async function identifyByEmbedToken(
  context: Context,
  caller: Caller,
  token: PresentedToken,
): Promise<Resolution | null> {
  const found = await findByEmbedToken(context, caller, token.reveal());
  if (found === null) return null;
  context.lastUse.resolved(found.userGroup, context.clock());
  return { userGroup: found.userGroup, token: { status: 'embed', expiresAt: found.expiresAt } };
}

/** Accepts only user group tokens, current or in their grace period. */
export async function identifyByToken(
  { store, clock, lastUse }: Context,
  caller: Caller,
  token: PresentedToken,
): Promise<Resolution | null> {
  const now = clock();
  const found = await findResolvable(store, token, tenantOf(caller), now);
  if (found === null) return null;
  const { userGroup, digest } = found;
  if (userGroup.tokenDigest === digest) {
    lastUse.resolved(userGroup, now);
    return { userGroup, token: { status: 'current', expiresAt: null } };
  }
  const expiresAt = previousTokenUntil(userGroup, now);
  if (expiresAt === null) return null;
  lastUse.resolved(userGroup, now);
  return { userGroup, token: { status: 'retiring', expiresAt } };
}
