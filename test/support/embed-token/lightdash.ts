// Writes user attributes into the SQL of a filter as Lightdash does, according to its published behaviour: a
// placeholder becomes the value in quotes, or the values of a list separated by commas; placeholders are
// replaced one after the other.

const PLACEHOLDER = /\$\{(?:lightdash|ld)\.(?:attributes|attribute|attr)\.(\w+)\}/g;

export type UserAttributes = Readonly<Record<string, string | readonly string[]>>;

interface Escaping {
  name: string;
  escape(text: string): string;
}

export const escapings: readonly Escaping[] = [
  { name: 'before the fix of June 2026', escape: (text) => text },
  { name: 'that doubles quotes', escape: (text) => text.replaceAll("'", "''") },
  {
    name: 'that also converts Unicode, and removes comments and invisible characters',
    escape: (text) =>
      text
        .normalize('NFC')
        .replace(/[\u2018\u2019]/g, "'")
        .replace(/[\ufeff\u200b]/g, '')
        .replaceAll("'", "''")
        .replace(/--.*$/gm, '')
        .replace(/\/\*[\s\S]*?\*\//g, '')
        .replaceAll('\\', '\\\\')
        .replaceAll('\0', ''),
  },
  {
    name: 'in SQL charts of autumn 2025, compared by Redshift',
    escape: (text) => text.replace(/\s+/g, ' ').trimEnd(),
  },
];

/** Returns the condition of a `sql_filter` for a user with these attributes. */
export function conditionOf(filter: string, attributes: UserAttributes, escaping: Escaping): string {
  let sql = filter.replace(/\$\{TABLE\}/g, 'orders');
  for (const [placeholder, name] of [...sql.matchAll(PLACEHOLDER)]) {
    const values = [attributes[name!]!].flat();
    // The replacement is a string, in which `$` has a special meaning.
    sql = sql.replace(placeholder, values.map((value) => `'${escaping.escape(value)}'`).join(', '));
  }
  return `(${sql})`;
}
