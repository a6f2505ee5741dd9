// Makes text safe for a terminal. Stored JSON can contain control characters, even in the names of members,
// and a caller could use them to change what the terminal of an operator shows or does. Names can reverse the
// direction of text, so that a line reads as another one.

/** Control characters, controls of direction, and others that end a line, are invisible or cannot be in YAML. */
const CONTROL = /[^\P{Cc}\t\n]|[\p{Bidi_Control}\u2028\u2029\ufeff\ufffe\uffff]/gu;

/** Writes them as escapes that JSON and quoted YAML share; tabs and line breaks stay. */
export function escapeControls(text: string): string {
  return text.replace(CONTROL, (control) => `\\u${control.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** Escapes line breaks too. */
export function singleLine(text: string): string {
  return escapeControls(text).replaceAll('\n', '\\n');
}
