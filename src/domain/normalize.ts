// Unicode normalization in linear time, for texts of callers.

/** Combining marks, and the two halfwidth letters that NFKC converts to such marks. */
const LONG_RUN = /[\p{M}\uff9e\uff9f]{30}(?=[\p{M}\uff9e\uff9f])/gu;

/**
 * Normalizes the text after dividing runs of more than 30 combining marks by U+034F (Stream-Safe Text Format,
 * UAX #15): the marks of a run are sorted in quadratic time, which takes a second for 64 KiB of them.
 */
export function normalize(text: string, form: 'NFC' | 'NFKC' | 'NFKD'): string {
  return text.replace(LONG_RUN, '$&\u034f').normalize(form);
}
