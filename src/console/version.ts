// Optimistic locking of forms: the version that a form was opened with is a hidden field and becomes its If-Match, so a
// stale or repeated submission changes nothing.

import { type Document, documentTag } from '../domain/document.ts';
import type { Precondition } from '../domain/precondition.ts';
import { toVersionTag } from '../domain/user-group/user-group.ts';
import { Problem } from '../problem.ts';
import { hidden, problemSummary } from './fields.ts';
import type { Form } from './form.ts';
import { alert, code, type Html, html, time } from './html.ts';
import { prettyJson } from './json.ts';

const NAME = 'version';

/** A hidden field with the version of what is stored, empty if nothing is. */
export function versionField(version: string): Html {
  return hidden(NAME, version);
}

/** After an error the form keeps its version, but after a conflict it has seen the stored one. */
export function keptVersionField(stored: string, form: Form, problem: Problem | undefined): Html {
  return versionField(problem === undefined || isConflict(problem) ? stored : versionIn(form));
}

export function documentVersion(stored: Document | null): string {
  return stored === null ? '' : documentTag(stored);
}

/** The version that the form was opened with. */
export function versionIn(form: Form): string {
  return form.text(NAME);
}

/** Requires the version that the form was opened with, or that nothing was stored. */
export function preconditionIn(form: Form): Precondition {
  const version = versionIn(form);
  if (version === '') return { ifNoneMatch: '*' };
  const tag = toVersionTag(version);
  return { ifMatch: tag === null ? [] : [tag] };
}

/** Whether something else is stored than the form was opened with. */
export function isConflict(error: unknown): error is Problem {
  return error instanceof Problem && error.code === 'version_mismatch';
}

/** Above a form that was rejected: if it was opened with another version than the stored one, shows that. */
export function formProblem(noun: string, stored: Document | null, problem: Problem | undefined): Html {
  if (!isConflict(problem)) return problemSummary(problem);
  const kept = 'so nothing was saved. What you typed is still here';
  if (stored === null)
    return alert(`This ${noun} was deleted after you opened the form, ${kept}: saving creates it again.`);
  return alert(
    `This ${noun} was changed after you opened the form, ${kept}: saving replaces the stored version.`,
    html`
<p>Stored now: version ${stored.version}, ${time(stored.updatedAt)}</p>
${code(prettyJson(stored.body))}`,
  );
}

/** The same above a form without fields, which asks for a confirmation. */
export function confirmationProblem(noun: string, problem: Problem | undefined): Html {
  if (!isConflict(problem)) return problemSummary(problem);
  return alert(
    `This ${noun} was changed after you opened this page, so nothing was done. Check it, and confirm again.`,
  );
}
