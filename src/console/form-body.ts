// The body of a request, made of the fields of a form: it is read as the API reads it, with the same rules and errors.

import { limits } from '../domain/field.ts';
import type { JsonText } from '../domain/json/strict-json.ts';
import { parseStrictJson } from '../domain/json/strict-json.ts';
import type { BodyType } from '../domain/request-body.ts';
import type { Context } from '../operations/context.ts';
import { GRACE_MS } from '../operations/machinery/cpu-queue.ts';
import { Problem } from '../problem.ts';
import type { Form } from './form.ts';
import { prettyJson } from './json.ts';

/** The members of a body as JSON; one that is undefined is absent. */
export type Members = Readonly<Record<string, string | undefined>>;

/** Throws `invalid_json`, `invalid_request` and `unknown_field`. */
export async function readForm<Body>(
  { cpu }: Pick<Context, 'cpu'>,
  form: Form,
  type: BodyType<Body>,
  membersOf: (form: Form) => Members,
): Promise<Body> {
  await cpu.turn(form.size, GRACE_MS);
  const members = Object.entries(membersOf(form)).filter(([, value]) => value !== undefined);
  return type.read(Buffer.from(`{${members.map(([name, value]) => `${JSON.stringify(name)}:${value}`)}}`));
}

export function textMember(form: Form, name: string): string | undefined {
  const text = form.text(name);
  return text === '' ? undefined : JSON.stringify(text);
}

/** A text that is no whole number is sent as it is, and the API says what it must be. */
export function numberMember(form: Form, name: string): string | undefined {
  const text = form.text(name).trim();
  return /^-?(?:0|[1-9]\d*)$/.test(text) ? text : textMember(form, name);
}

/** JSON as it was typed. Throws `invalid_json` with the place in the field, unless it is exactly one value. */
export function jsonMember(form: Form, name: string): string | undefined {
  const text = form.text(name);
  if (text.trim() === '') return undefined;
  try {
    parseStrictJson(Buffer.from(text), limits.propertiesLevels);
    return text;
  } catch (problem) {
    if (!(problem instanceof Problem)) throw problem;
    const errors = problem.errors.map((error) => ({ ...error, pointer: `/${name}${error.pointer}` }));
    const details = errors.map(({ pointer, detail }) => `${pointer.slice(1)} ${detail}`);
    throw new Problem('invalid_json', `${details.join('; ')}.`, { errors });
  }
}

/** Percent-encoded, as a form is sent; the rest is for the other fields. */
const MAX_ENCODED_BYTES = limits.bodyBytes - 16_384;

/** The text for a field: with line breaks, unless the form would become too large to be sent. */
export function editableJson(text: JsonText): string {
  const pretty = prettyJson(text);
  const sent = new URLSearchParams({ '': pretty.replaceAll('\n', '\r\n') }).toString();
  return sent.length <= MAX_ENCODED_BYTES ? pretty : text;
}
