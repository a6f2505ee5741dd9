// JSON that others may have written: it need not be valid. Unlike strict JSON, it may repeat keys, and its numbers are
// rounded.

/** Returns undefined if the text is not valid. */
export function parseLenient(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Returns null if the text is anything but an object or a list. */
export function parseLenientObject(text: string): Record<string, unknown> | null {
  const value = parseLenient(text);
  return typeof value === 'object' ? (value as Record<string, unknown> | null) : null;
}
