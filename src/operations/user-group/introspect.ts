// Introspects a token (RFC 7662): like resolve, with the issuer of the token.

import type { Caller } from '../../domain/api-token.ts';
import { issuerUrl } from '../../domain/signing-key/key-set.ts';
import type { PresentedToken } from '../../domain/token.ts';
import type { Context } from '../context.ts';
import { findKeySet } from '../signing-key/key-set.ts';
import { identifyViewer, type Viewer } from './resolve.ts';

export interface Introspection extends Viewer {
  issuer: string;
}

/** Returns null for every token that does not resolve. */
export async function introspectToken(
  context: Context,
  caller: Caller,
  token: PresentedToken,
): Promise<Introspection | null> {
  const viewer = await identifyViewer(context, caller, token);
  if (viewer === null) return null;
  const keySet = viewer.token.status === 'embed' ? await findKeySet(context, caller) : null;
  const { publicUrl } = context;
  return { ...viewer, issuer: keySet === null ? publicUrl : issuerUrl(publicUrl, keySet.keySet) };
}
