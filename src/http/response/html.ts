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

const ESCAPED = '"&\'<=>`';
const SPECIAL = new RegExp(`[${ESCAPED}]`);
/** Character references by code unit. */
const REFERENCES = new Map([...ESCAPED].map((each) => [each.charCodeAt(0), `&#${each.charCodeAt(0)};`]));

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

/** A replacement by a function would take three times as long for a text full of quotes. */
function escapeText(text: string): string {
  if (!SPECIAL.test(text)) return text;
  let escaped = '';
  let start = 0;
  for (let at = 0; at < text.length; at++) {
    const reference = REFERENCES.get(text.charCodeAt(at));
    if (reference === undefined) continue;
    escaped += text.slice(start, at) + reference;
    start = at + 1;
  }
  return escaped + text.slice(start);
}

export function joined(parts: readonly Html[], separator: string): Html {
  return new Html(parts.map(({ markup }) => markup).join(escapeText(separator)));
}
