// Text that a terminal only shows. Stored JSON can contain control characters, also in the names of members, and a caller
// could use them to change what the terminal of an operator shows, or what it does.

const CONTROL = /[^\P{Cc}\t\n]/gu;

/** Writes control characters as escapes that JSON and quoted YAML share; tabs and line breaks stay. */
export function escapeControls(text: string): string {
  return text.replace(CONTROL, (control) => `\\u${control.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** The same on one line. */
export function singleLine(text: string): string {
  return escapeControls(text).replaceAll('\n', '\\n');
}
