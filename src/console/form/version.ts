// Optimistic locking of forms: the version that a form was opened with is a hidden field and becomes its
// If-Match, so a stale or repeated submission changes nothing.

import { type Document, documentTag } from '../../domain/document.ts';
import { parseLenient } from '../../domain/json/lenient-json.ts';
import type { Precondition } from '../../domain/precondition.ts';
import { toVersionTag } from '../../domain/user-group/user-group.ts';
import { Problem } from '../../problem.ts';
import { alert, code, type Html, html, NO_HTML, table, time } from '../markup/html.ts';
import { checkField, hidden, type Labels, labelOfField, problemSummary } from './fields.ts';
import { Form } from './form.ts';
import type { FormContent } from './form-pages.ts';
import { type Merge, threeWayMerge } from './merge.ts';

const NAME = 'version';
const BASE = 'base';
const RECREATE = 'recreate';
/** Fields that do not belong to the document, or are never shown again. */
const OTHER_FIELDS = ['csrf', NAME, BASE, RECREATE, 'secret', 'confirmed', 'force'];

/** More fields than the form of any document has. */
const MAX_FIELDS = 1_000;

/** Values that were stored when a form was opened. */
export interface Opened {
  version: string;
  /** The fields as a text: whatever differs from them was typed. */
  base: string;
}

export function openedFields({ version, base }: Opened): Html {
  return html`${versionField(version)}${hidden(BASE, base)}`;
}

export function openedIn(form: Form): Opened {
  return { version: versionIn(form), base: form.text(BASE) };
}

/** Hidden field with the version of what is stored, empty if nothing is. */
export function versionField(version: string): Html {
  return hidden(NAME, version);
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
  if (version === '' || form.has(RECREATE)) return { ifNoneMatch: '*' };
  return requiredVersion(version);
}

/** Requires this version. If the text is not a version, nothing meets the precondition. */
export function requiredVersion(version: string): Precondition {
  const tag = toVersionTag(version);
  return { ifMatch: tag === null ? [] : [tag] };
}

/** Whether the stored version is not the one that the form was opened with. */
export function isConflict(error: unknown): error is Problem {
  return error instanceof Problem && error.code === 'version_mismatch';
}

interface Stored {
  document: Document | null;
  /** The fields of the document as a form shows them. */
  typed: Readonly<Record<string, string>>;
}

interface EditContent extends Omit<FormContent, 'fields' | 'button'> {
  fields(form: Form): Html;
}

/**
 * Returns a form that edits a stored document. After a conflict, it has what the person changed and, in other
 * fields, what is stored.
 */
export function editForm(
  form: Form,
  noun: string,
  stored: Stored,
  { fields, ...content }: EditContent,
): FormContent {
  const edited = editedForm(form, noun, stored);
  return {
    ...content,
    reason: edited.reason,
    fields: html`${edited.hidden}
${fields(edited.form)}`,
    button: 'Save',
  };
}

/** Returns the form to show, why it was rejected, and its hidden fields. */
function editedForm(form: Form, noun: string, { document, typed }: Stored) {
  const { problem } = form;
  const opened = openedFields({ version: documentVersion(document), base: JSON.stringify(typed) });
  if (problem === undefined) return { form, reason: NO_HTML, hidden: opened };
  const kept = openedFields(openedIn(form));
  if (!isConflict(problem)) return { form, reason: problemSummary(problem), hidden: kept };
  if (document === null && versionIn(form) !== '') {
    const label = `Create a new ${noun} with this id`;
    const recreate = checkField({ name: RECREATE, label });
    return { form, reason: deletedAlert(noun), hidden: html`${kept}${recreate}` };
  }
  const now = Object.entries(typed).filter(([name]) => !OTHER_FIELDS.includes(name));
  const merge = threeWayMerge(baseIn(form), new Map(typedIn(form)), new Map(now));
  const merged = new Form(merge.fields, problem);
  return { form: merged, reason: conflictAlert(noun, document, merge), hidden: opened };
}

function baseIn(form: Form): Map<string, string> | null {
  const base = parseLenient(openedIn(form).base) as Record<string, string> | null | undefined;
  return base == null ? null : new Map(Object.entries(base));
}

/** Throws `invalid_request`: after a conflict, each field is a row of a table. */
function typedIn(form: Form): [string, string][] {
  if (form.entries.length > MAX_FIELDS)
    throw new Problem('invalid_request', `This form must have at most ${MAX_FIELDS} fields.`);
  return form.entries
    .filter(([name]) => !OTHER_FIELDS.includes(name))
    .map(([name]) => [name, form.text(name)]);
}

function deletedAlert(noun: string): Html {
  return alert(
    `This ${noun} was deleted after you opened the form, so nothing was saved. What you typed is still here.`,
  );
}

function conflictAlert(noun: string, document: Document | null, { conflicts, others }: Merge): Html {
  const rows = [
    ...conflicts.map(({ name, from, to }) => [labelOfField(name), shown(from), shown(to)]),
    ...others.map(({ name, to }) => [labelOfField(name), shown(to), 'not changed: the stored value stays']),
  ];
  const now =
    document === null
      ? NO_HTML
      : html`<p>Stored now: version ${document.version}, ${time(document.updatedAt)}</p>`;
  return alert(
    `This ${noun} was changed after you opened the form, so nothing was saved. The form below has your changes, and what others have changed elsewhere: saving it replaces only the fields that you changed.`,
    html`${now}${table('Changes', ['Field', 'Stored now', 'Yours'], rows, 'What is stored now is what you typed.')}`,
  );
}

function shown(text: string | undefined): Html {
  return text === undefined || text === '' ? html`<span class="none">empty</span>` : code(text);
}

/**
 * Returns a form that asks to confirm an action on what is stored, in the version that the person has seen: after an
 * error that of the form, after a conflict the stored one.
 */
export function confirmation(
  form: Form,
  noun: string,
  version: string,
  { fields = NO_HTML, ...content }: Omit<FormContent, 'isDangerous'>,
): FormContent {
  const { problem } = form;
  const seen = problem === undefined || isConflict(problem) ? version : versionIn(form);
  return {
    ...content,
    reason: confirmationProblem(noun, problem, content.labels),
    fields: html`${versionField(seen)}
${fields}`,
    isDangerous: true,
  };
}

/** Says why an action was not performed. `labels`: as for `problemSummary`. */
export function confirmationProblem(noun: string, problem: Problem | undefined, labels?: Labels): Html {
  if (!isConflict(problem)) return problemSummary(problem, labels);
  return alert(
    `This ${noun} was changed after you opened this page, so nothing was done. The change may be your own first click: check it before you confirm again.`,
  );
}
