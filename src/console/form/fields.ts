// Forms: fields with labels, and errors beside the field that they are about.

import { limits } from '../../domain/field.ts';
import { jsonPointer, parsePointer } from '../../domain/json/strict-json.ts';
import { capitalized } from '../../http/description.ts';
import { Problem, type Violation } from '../../problem.ts';
import {
  alert,
  type ButtonKind,
  bdi,
  type Html,
  html,
  joined,
  labelOf,
  NO_HTML,
  pointerText,
} from '../markup/html.ts';
import { maskedToken, type Session } from '../session/session.ts';
import type { Form } from './form.ts';

interface FieldOptions {
  name: string;
  /** `labelOfField` of the name if absent. */
  label?: string;
  value?: string;
  hint?: string;
  /** Problem of the stored value; not shown if empty. */
  warning?: string;
  isRequired?: boolean;
  /** Whether only screen readers get the label, as in a table, whose columns have titles. */
  isLabelHidden?: boolean;
  /** Problem of the rejected form. */
  problem?: Problem | undefined;
  /** JSON Pointer of violations of this field; `/name` if absent. */
  pointer?: string;
  /** Width of the control: `small` for a number, `medium` for a name, `large` for a URL or a token. */
  size?: 'small' | 'medium' | 'large';
}

interface TextFieldOptions extends FieldOptions {
  type?: string;
  /**
   * Whether the text is a token or secret that is not the person's own. Browsers fill a field of the type
   * `password` with the API token that they have stored, and offer to replace that by what was typed.
   */
  isMasked?: boolean;
  inputMode?: 'decimal';
  placeholder?: string;
  /** Id of a list of suggestions. */
  list?: string;
  /** Maximum of UTF-16 units. Browsers accept no more, and cut what is pasted. */
  maxLength?: number;
}

/** Input of one line. Keyboards of phones neither capitalize nor correct it: ids, tokens and secrets are exact. */
export function textField(options: TextFieldOptions): Html {
  const {
    name,
    value = '',
    type = 'text',
    isMasked = false,
    inputMode = 'text',
    placeholder,
    list,
    maxLength,
  } = options;
  const size = options.size ?? (inputMode === 'decimal' || type === 'date' ? 'small' : 'medium');
  return labelled(
    options,
    (attributes) =>
      html`<input id="${name}" name="${name}" type="${type}" value="${value}" class="${size}${isMasked ? ' masked' : ''}" dir="auto" autocomplete="off" autocapitalize="none" autocorrect="off" inputmode="${inputMode}" spellcheck="false" ${placeholder === undefined ? '' : html`placeholder="${placeholder}"`} ${list === undefined ? '' : html`list="${list}"`} ${maxLength === undefined ? '' : html`maxlength="${maxLength}"`} ${options.isRequired ? 'required' : ''} ${attributes}>`,
  );
}

/** Condition of a list, which is a part of the address of the page: longer texts would exceed what servers accept. */
export function filterField(options: TextFieldOptions): Html {
  return textField({ maxLength: 2 * limits.textCodePoints, ...options });
}

export function nameField(options: Pick<FieldOptions, 'value' | 'hint' | 'problem'>): Html {
  return textField({ name: 'name', isRequired: true, ...options });
}

/** Input of several lines. Unless `isText`, it has JSON from left to right, so that brackets keep their places. */
export function areaField(
  options: FieldOptions & { rows?: number; placeholder?: string; isText?: boolean },
): Html {
  const { name, value = '', rows = 8, placeholder, isText = false } = options;
  return labelled(
    options,
    (attributes) =>
      // Browsers drop the first line break in a textarea.
      html`<textarea id="${name}" name="${name}" rows="${rows}" ${isText ? html`dir="auto"` : ''} spellcheck="false" ${placeholder === undefined ? '' : html`placeholder="${placeholder}"`} ${attributes}>
${value}</textarea>`,
  );
}

export function choiceField(
  options: FieldOptions & { choices: readonly (readonly [value: string, text: string])[] },
): Html {
  const { name, value = '', choices } = options;
  return labelled(
    options,
    (attributes) =>
      html`<select id="${name}" name="${name}" ${attributes}>${choices.map(
        ([each, text]) => html`<option value="${each}" ${each === value ? 'selected' : ''}>${text}</option>`,
      )}</select>`,
  );
}

/** Check box, which is checked unless its value is empty. */
export function checkField(options: FieldOptions): Html {
  const { name, label = labelOfField(name), value = '' } = options;
  const error = errorText(options);
  return html`<div class="field check">${error}<label><input type="checkbox" name="${name}" value="on" ${value === '' ? '' : 'checked'} ${describedBy([error, `${name}-error`])}> ${label}</label></div>`;
}

/** Lets a person check several choices. Each is a field of its own, `name.value`. */
export function choicesField(
  form: Form,
  name: string,
  choices: readonly (readonly [value: string, text: string])[],
): Html {
  const boxes = choices.map(([value, label]) => checkField({ ...form.field(`${name}.${value}`), label }));
  return group({ name, problem: form.problem }, html`<div class="checks">${boxes}</div>`);
}

/** Groups fields that share their errors. */
export function group(options: Pick<FieldOptions, 'name' | 'problem'>, content: Html): Html {
  const { name } = options;
  const error = errorText(options);
  return html`<fieldset ${error === NO_HTML ? '' : html`class="invalid" aria-describedby="${name}-error"`}><legend>${labelOfField(name)}</legend>${error}
${content}</fieldset>`;
}

/** Form that changes something. Browsers must not fill it in on "back": the page may show a later version. */
export function actionForm(session: Session, action: string, content: Html): Html {
  return html`<form method="post" action="${action}" autocomplete="off">
<input type="hidden" name="csrf" value="${maskedToken(session)}">
${content}
</form>`;
}

export function hidden(name: string, value: string): Html {
  return html`<input type="hidden" name="${name}" value="${value}">`;
}

/** `object`: see `labelOf`. */
export function submit(text: string, kind: ButtonKind = 'primary', object?: string): Html {
  return html`<button type="submit" class="${kind}"${labelOf(text, object)}>${text}</button>`;
}

/** Labels by the name of their field. */
export type Labels = Readonly<Record<string, string>>;

/**
 * Says above a rejected form what is wrong, with a link to the error beside each field. `labels` override the
 * usual labels of fields.
 */
export function problemSummary(problem: Problem | undefined, labels: Labels = {}): Html {
  if (problem === undefined) return NO_HTML;
  const { message } = problem;
  const errors = essentialErrors(problem);
  if (errors.length === 0) return alert(message);
  const items = errors.map(
    ({ pointer, detail }) =>
      html`<li><a href="#${errorId(pointer)}">${fieldName(pointer, labels)}</a> ${detail}</li>`,
  );
  return alert(summaryTitle(message, errors), html`<ul>${items}</ul>`);
}

/** Returns the message, unless it only repeats the errors. */
function summaryTitle(message: string, errors: readonly Violation[]): string {
  const [{ pointer, detail }] = errors as [Violation, ...Violation[]];
  if (!message.includes(`${pointer.slice(1)} ${detail}`)) return message;
  const count = new Set(errors.map((error) => error.pointer)).size;
  return count === 1 ? 'Nothing was done. Check one field:' : `Nothing was done. Check ${count} fields:`;
}

/** Returns the errors, without further errors about an empty value: that it is empty says enough. */
function essentialErrors({ errors }: Problem): readonly Violation[] {
  const empty = new Set(errors.filter(({ detail }) => detail === EMPTY).map(({ pointer }) => pointer));
  return errors.filter(({ pointer, detail }) => detail === EMPTY || !empty.has(pointer));
}

const EMPTY = 'must not be empty';

/** Returns the id of the element that shows the error at the pointer. */
function errorId(pointer: string): string {
  return `at${pointer.split('/').map(encodeURIComponent).join('/')}`;
}

/** Labels of fields whose name people would not recognize. */
const LABELS: Labels = {
  event_types: 'Events',
  expires_in_seconds: 'Expires',
  grace_period_seconds: 'Grace period of the current token',
  schema: 'JSON Schema',
  schema_id: 'Schema',
  since: 'Events since (UTC)',
  ttl_seconds: 'Seconds that a token is valid',
  user_group_id: 'Reserved for user group',
};

/** Writes a pointer for people, such as "Properties › plan". */
function fieldName(pointer: string, labels: Labels): Html {
  const [first = '', ...others] = parsePointer(pointer);
  return joined([labels[first] ?? labelOfField(first), ...others].map(bdi), ' › ');
}

/** Returns the label of the field, unless its form has another. */
export function labelOfField(name: string): string {
  return LABELS[name] ?? wordsOf(name);
}

/** Writes an identifier for people, such as "API tokens" for `api-tokens`. */
export function wordsOf(identifier: string): string {
  const words = identifier.replace(/[._-]/g, ' ').replace(/^(?:api|url)\b/, (word) => word.toUpperCase());
  return capitalized(words);
}

function labelled(options: FieldOptions, control: (attributes: Html) => Html): Html {
  const { name, label = labelOfField(name), hint, warning, isLabelHidden = false } = options;
  const error = errorText(options);
  const attributes = describedBy(
    [hint, `${name}-hint`],
    [error, `${name}-error`],
    [warning || undefined, `${name}-warning`],
  );
  return html`<div class="field"><label for="${name}" class="${isLabelHidden ? 'hidden' : ''}">${label}</label>
${hint === undefined ? '' : html`<p class="hint" id="${name}-hint">${hint}</p>`}
${error}
${control(error === NO_HTML ? attributes : html`${attributes} aria-invalid="true"`)}
${warning ? html`<p class="error" id="${name}-warning">${warning}</p>` : ''}</div>`;
}

/** References those texts about a control that exist. */
function describedBy(...texts: readonly (readonly [text: Html | string | undefined, id: string])[]): Html {
  const ids = texts.filter(([text]) => text !== undefined && text !== NO_HTML).map(([, id]) => id);
  return ids.length === 0 ? NO_HTML : html`aria-describedby="${ids.join(' ')}"`;
}

/** Returns `NO_HTML` without an error. Precedes the control: the Tab key leads from a linked error to it. */
function errorText({
  name,
  pointer = `/${name}`,
  problem,
}: Pick<FieldOptions, 'name' | 'pointer' | 'problem'>): Html {
  if (problem === undefined) return NO_HTML;
  const errors = essentialErrors(problem).filter((error) => isAt(pointer, error));
  if (errors.length === 0) return NO_HTML;
  const identified = new Set<string>();
  const texts = errors.map(({ pointer: at, detail }) => {
    const inside = at.slice(pointer.length);
    const id = identified.has(at) ? NO_HTML : html` id="${errorId(at)}"`;
    identified.add(at);
    return html`<span${id}>${inside === '' ? '' : html`${pointerText(inside)} `}${detail}</span>`;
  });
  return html`<p class="error" id="${name}-error">${joined(texts, '; ')}</p>`;
}

/** Leaves out the errors of these members of the field, which have controls of their own. */
export function withoutErrorsOf(
  field: string,
  members: readonly string[],
  problem: Problem | undefined,
): Problem | undefined {
  if (problem === undefined) return undefined;
  const shown = members.map((member) => jsonPointer([field, member]));
  const errors = problem.errors.filter((error) => !shown.some((pointer) => isAt(pointer, error)));
  return new Problem(problem.code, problem.message, { errors });
}

/** Whether the error is about what is at the pointer, or about a part of it. */
function isAt(pointer: string, error: Violation): boolean {
  return error.pointer === pointer || error.pointer.startsWith(`${pointer}/`);
}
