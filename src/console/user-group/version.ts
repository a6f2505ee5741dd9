// The version that a form is about: a group that has changed since the page was loaded is not changed by it, nor by
// sending the form again.

import { toVersionTag, type VersionTag } from '../../domain/user-group.ts';
import { versionMismatch } from '../../operations/refusals.ts';
import { Problem } from '../../problem.ts';
import { hidden } from '../fields.ts';
import type { Form } from '../form.ts';

const NAME = 'version';

export function versionField(version: VersionTag): string {
  return hidden(NAME, version);
}

/** Throws `version_mismatch` if the form has none. */
export function versionOf(form: Form): VersionTag {
  const version = toVersionTag(form.text(NAME));
  if (version === null) throw versionMismatch();
  return version;
}

/** The problem in the words of a page that shows the group as it is now. */
export function inWords(problem: Problem): Problem {
  if (problem.code !== 'version_mismatch') return problem;
  return new Problem(
    problem.code,
    'Nothing was done: this user group has been changed since you opened the page. Check how it is now, and try again.',
  );
}
