// The fields of a submitted form.

import type { IncomingMessage } from 'node:http';
import { checkMediaType } from '../http/request/media-type.ts';
import { Problem } from '../problem.ts';

/** Fields as they were typed, so that a form with errors can be shown again. */
export class Form {
  readonly #fields: URLSearchParams;

  static readonly empty = new Form(new URLSearchParams());

  /** Throws `unsupported_media_type` for anything but an URL-encoded form. */
  static read(message: IncomingMessage, bytes: Buffer): Form {
    checkMediaType(message, ['application/x-www-form-urlencoded']);
    return new Form(new URLSearchParams(bytes.toString()));
  }

  /** What a form shows before anything is typed. */
  static of(fields: Readonly<Record<string, string>>): Form {
    return new Form(new URLSearchParams(fields));
  }

  constructor(fields: URLSearchParams) {
    this.#fields = fields;
  }

  /** An empty text if the field is absent. Browsers send line breaks as CR LF. */
  text(name: string): string {
    return (this.#fields.get(name) ?? '').replaceAll('\r\n', '\n');
  }

  /** Characters of all fields. */
  get size(): number {
    return this.entries().reduce((size, [, text]) => size + text.length, 0);
  }

  has(name: string): boolean {
    return this.#fields.has(name);
  }

  /** Undefined if it is empty. Throws `invalid_request` unless it is one of the choices. */
  choice<const Choice extends string>(name: string, choices: readonly Choice[]): Choice | undefined {
    const text = this.text(name);
    if (text === '') return undefined;
    const choice = choices.find((each) => each === text);
    if (choice !== undefined) return choice;
    throw new Problem('invalid_request', `${name} must be one of ${choices.join(', ')}.`, {
      errors: [{ pointer: `/${name}`, detail: `must be one of ${choices.join(', ')}` }],
    });
  }

  entries(): [name: string, text: string][] {
    return [...this.#fields];
  }
}
