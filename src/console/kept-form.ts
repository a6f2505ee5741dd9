// Keeps a form that was sent after its session had ended, or while the service was unavailable. The kept form
// travels encrypted within another form, which asks to sign in or just to show it again. So what was typed is
// not lost, and nothing is done before the person sends it again.

import type { KeyRing } from '../domain/key-ring.ts';
import { Form, MAX_FORM_BYTES } from './form.ts';
import { Sealed } from './sealed.ts';

/** Name of the field. */
export const KEPT_FORM = 'kept_form';
/** Limited, because anyone may send a form without a session; fits the largest user group, percent-encoded. */
export const MAX_KEPT_BYTES = MAX_FORM_BYTES / 2;
const MAX_AGE_MS = 3_600_000;
const sealed = new Sealed<[path: string, at: number, entries: readonly (readonly [string, string])[]]>(
  'console-form',
);

export function keptForm(keyRing: KeyRing, path: string, form: Form, now: number): string {
  return sealed.textOf(keyRing, [path, now, form.entries]);
}

/** Returns null unless it was kept for this path within the last hour. */
export function openKeptForm(keyRing: KeyRing, path: string, text: string, now: number): Form | null {
  const opened = sealed.open(keyRing, text);
  if (opened === null) return null;
  const [keptPath, keptAt, entries] = opened;
  if (keptPath !== path || now - keptAt >= MAX_AGE_MS) return null;
  return new Form(entries);
}
