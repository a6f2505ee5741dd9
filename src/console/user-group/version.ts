// The version that a form is about: a group that has changed since the page was loaded is not changed by it, nor by
// sending the form again.

import { toVersionTag, type VersionTag } from '../../domain/user-group/user-group.ts';
import { versionMismatch } from '../../operations/refusals.ts';
import { hidden } from '../fields.ts';
import type { Form } from '../form.ts';
import type { Html } from '../html.ts';

const NAME = 'version';

export function versionField(version: VersionTag): Html {
  return hidden(NAME, version);
}

/** Throws `version_mismatch` if the form has none. */
export function versionOf(form: Form): VersionTag {
  const version = toVersionTag(form.text(NAME));
  if (version === null) throw versionMismatch();
  return version;
}
