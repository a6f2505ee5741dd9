// Texts in CSV files that people open in a spreadsheet, which evaluates a cell that starts like a formula.

/** In many languages, spreadsheets split the lines of CSV at semicolons, whether or not these are in quotes. */
const START_OF_FORMULA = /(^|;["\s]*)(?=[=+\-@\t\r\uff0b\uff0d\uff1d\uff20])/g;

/** Writes an apostrophe before what a spreadsheet could read as the start of a formula. */
export function withoutFormulas(text: string): string {
  return text.replace(START_OF_FORMULA, "$1'");
}
