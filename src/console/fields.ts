// Forms: fields with labels, and errors beside the field that they are about.

import type { Problem, Violation } from '../problem.ts';
import { alert, buttonTo, type Html, html, NO_HTML } from './html.ts';
import type { Session } from './session.ts';

interface FieldOptions {
  name: string;
  label: string;
  value?: string;
  hint?: string;
  isRequired?: boolean;
  /** Problem of the rejected form. */
  problem?: Problem | undefined;
  /** JSON Pointer of violations of this field; `/name` if absent. */
  pointer?: string;
}

/** An input of one line. */
export function textField(
  options: FieldOptions & { type?: string; autocomplete?: string; inputMode?: 'decimal' },
): Html {
  const { name, value = '', type = 'text', autocomplete = 'off', inputMode = 'text', isRequired } = options;
  return labelled(
    options,
    (attributes) =>
      html`<input id="${name}" name="${name}" type="${type}" value="${value}" autocomplete="${autocomplete}" inputmode="${inputMode}" spellcheck="false" ${isRequired ? 'required' : ''} ${attributes}>`,
  );
}

export function nameField(options: Pick<FieldOptions, 'value' | 'hint' | 'problem'>): Html {
  return textField({ name: 'name', label: 'Name', isRequired: true, ...options });
}

/** Several lines, such as JSON. */
export function areaField(options: FieldOptions & { rows?: number }): Html {
  const { name, value = '', rows = 8 } = options;
  return labelled(
    options,
    (attributes) =>
      // A browser drops the first line break.
      html`<textarea id="${name}" name="${name}" rows="${rows}" spellcheck="false" ${attributes}>
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

export function checkField(options: FieldOptions & { isChecked: boolean }): Html {
  const { name, label, isChecked } = options;
  const error = errorFor(options);
  return html`<div class="field check"><label><input type="checkbox" name="${name}" value="on" ${isChecked ? 'checked' : ''} ${describedByError(name, error)}> ${label}</label>${errorText(name, error)}</div>`;
}

/** Several of the choices; each is a field of its own, `name.value`. */
export function choicesField({
  choices,
  isChecked,
  ...options
}: Pick<FieldOptions, 'name' | 'label' | 'problem'> & {
  choices: readonly (readonly [value: string, text: string])[];
  isChecked(field: string): boolean;
}): Html {
  const { name, label } = options;
  const boxes = choices.map(([value, text]) => {
    const field = `${name}.${value}`;
    return checkField({ name: field, label: text, isChecked: isChecked(field) });
  });
  const error = errorFor(options);
  return html`<fieldset ${describedByError(name, error)}><legend>${label}</legend>${errorText(name, error)}
<div class="checks">${boxes}</div></fieldset>`;
}

/** A form that changes something. */
export function actionForm(session: Session, action: string, content: Html): Html {
  return html`<form method="post" action="${action}">
<input type="hidden" name="csrf" value="${session.csrfToken}">
${content}
</form>`;
}

export function hidden(name: string, value: string): Html {
  return html`<input type="hidden" name="${name}" value="${value}">`;
}

export function submit(text: string, kind: 'primary' | 'danger' | 'plain' = 'primary'): Html {
  return html`<button type="submit" class="${kind}">${text}</button>`;
}

export function cancel(path: string): Html {
  return buttonTo(path, 'Cancel');
}

/** Above a rejected form: what is wrong, for errors of no field too. */
export function problemSummary(problem: Problem | undefined): Html {
  return problem === undefined ? NO_HTML : alert(problem.message);
}

function labelled(options: FieldOptions, control: (attributes: Html) => Html): Html {
  const { name, label, hint } = options;
  const error = errorFor(options);
  const described = [hint && `${name}-hint`, error && `${name}-error`].filter(Boolean).join(' ');
  const attributes = html`${described && html`aria-describedby="${described}"`} ${error && html`aria-invalid="true"`}`;
  return html`<div class="field"><label for="${name}">${label}</label>
${hint === undefined ? '' : html`<p class="hint" id="${name}-hint">${hint}</p>`}
${control(attributes)}
${errorText(name, error)}</div>`;
}

function describedByError(name: string, error: string): Html {
  return error === '' ? NO_HTML : html`aria-describedby="${name}-error"`;
}

function errorText(name: string, error: string): Html {
  return error === '' ? NO_HTML : html`<p class="error" id="${name}-error">${error}</p>`;
}

function errorFor({ name, pointer = `/${name}`, problem }: FieldOptions): string {
  const isAbout = ({ pointer: each }: Violation) => each === pointer || each.startsWith(`${pointer}/`);
  const details = (problem?.errors ?? []).filter(isAbout).map(({ pointer: at, detail }) => {
    const inside = at.slice(pointer.length);
    return inside === '' ? detail : `${inside} ${detail}`;
  });
  return details.join('; ');
}
