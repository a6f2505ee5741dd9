// HTML as a type of its own: text does not become HTML by mistake, nor HTML text. Templates escape text and
// numbers, and insert only `Html` unchanged. The libraries that were considered accept every value: they
// would show an object as `[object Object]`.

export class Html {
  readonly markup: string;
  /** Makes the type nominal: an object with the same members is not `Html`. */
  readonly #isHtml = true;

  /** Trusts the markup. In templates, use `html` instead. */
  constructor(markup: string) {
    this.markup = markup;
  }

  static is(value: unknown): value is Html {
    return value instanceof Html && value.#isHtml;
  }
}

/** A value that a template inserts: text and numbers are escaped. */
export type Insertion = Html | readonly Html[] | string | number;

const SPECIAL = /["&'<=>`]/;
const ALL_SPECIAL = new RegExp(SPECIAL, 'g');

/** Tag of templates. Insert text only as the content of an element or within a quoted attribute. */
export function html(strings: TemplateStringsArray, ...insertions: Insertion[]): Html {
  let markup = strings[0]!;
  // No iterator: most templates run too rarely to be optimized.
  for (let index = 0; index < insertions.length; index++)
    markup += toMarkup(insertions[index]!) + strings[index + 1]!;
  return new Html(markup);
}

/** Stands for an optional part that is absent. */
export const NO_HTML = new Html('');

function toMarkup(insertion: Insertion): string {
  if (typeof insertion === 'string') return escapeText(insertion);
  if (typeof insertion === 'number') return String(insertion);
  return Html.is(insertion) ? insertion.markup : insertion.map(({ markup }) => markup).join('');
}

function escapeText(text: string): string {
  return SPECIAL.test(text)
    ? text.replace(ALL_SPECIAL, (character) => `&#${character.charCodeAt(0)};`)
    : text;
}

export function joined(parts: readonly Html[], separator: string): Html {
  return new Html(parts.map(({ markup }) => markup).join(escapeText(separator)));
}
