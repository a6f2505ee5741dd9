// Texts in CSV files that people open in a spreadsheet, which evaluates a cell that starts like a formula.

/** Includes starts after a semicolon, where spreadsheets split lines in many languages, even within quotes. */
const START_OF_FORMULA = /(^|;["\s]*)(?=[=+\-@\t\r\uff0b\uff0d\uff1d\uff20])/g;

/** Writes an apostrophe before what a spreadsheet could read as the start of a formula. */
export function withoutFormulas(text: string): string {
  return text.replace(START_OF_FORMULA, "$1'");
}

/** Escapes semicolons of JSON, so that no apostrophe has to follow them. */
export function jsonCell(json: string): string {
  return json.replaceAll(';', '\\u003b');
}
