// From a token that a viewer presents to the group: a user group token, or an embed token of the type jwt.

import type { Caller } from '../../domain/api-token.ts';
import type { EffectiveMapping } from '../../domain/catalogue.ts';
import { limits } from '../../domain/field.ts';
import type { UserGroup } from '../../domain/user-group.ts';
import { type Context, isVisible } from '../context.ts';
import { tokenNotFound } from '../refusals.ts';
import { findByEmbedToken } from './find-by-embed-token.ts';
import { findByToken } from './find-by-token.ts';

export interface ResolveBody {
  token: string;
}

export interface Resolution {
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

/** Returns the group of a token that is valid now. Throws `user_group_token_not_found`. */
export async function resolveToken(
  context: Context,
  caller: Caller,
  { token }: ResolveBody,
): Promise<Viewer> {
  const viewer = await identifyViewer(context, caller, token);
  if (viewer === null) throw tokenNotFound();
  return viewer;
}

/** The same, with null for every token that does not resolve. */
export async function identifyViewer(context: Context, caller: Caller, text: string): Promise<Viewer | null> {
  const found = await identify(context, caller, text);
  if (found === null) return null;
  const { catalogue } = await context.configs.of(context.store, caller);
  const effective = catalogue.isEmpty ? null : catalogue.effective(found.userGroup.mapping);
  return { ...found, effective };
}

/** The same without the catalogue. */
async function identify(context: Context, caller: Caller, text: string): Promise<Resolution | null> {
  // Longer than any user group token, issued or imported.
  if (text.length <= limits.tokenCharacters.most) return identifyByToken(context, caller, text);
  const found = await findByEmbedToken(context, caller, text);
  if (found === null) return null;
  context.usage.resolved(found.userGroup);
  return { userGroup: found.userGroup, token: { status: 'embed', expiresAt: found.expiresAt } };
}

/** Accepts only user group tokens, current or in their grace period. */
export async function identifyByToken(
  { store, clock, usage }: Context,
  caller: Caller,
  text: string,
): Promise<Resolution | null> {
  const found = await findByToken(store, text);
  if (found === null || !isVisible(found.userGroup, caller)) return null;
  const { userGroup, digest } = found;
  if (userGroup.suspendedAt !== null) return null;
  if (userGroup.tokenDigest === digest) {
    usage.resolved(userGroup);
    return { userGroup, token: { status: 'current', expiresAt: null } };
  }
  const expiresAt = userGroup.previousTokenExpiresAt;
  if (expiresAt === null || expiresAt <= clock()) return null;
  usage.resolved(userGroup);
  return { userGroup, token: { status: 'retiring', expiresAt } };
}
