// Instants are milliseconds since 1970; callers send and see them as RFC 3339 timestamps.

export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

const TIMESTAMP =
  /^(\d{4})-(\d\d)-(\d\d)[Tt]([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,9})?([Zz]|[+-]([01]\d|2[0-3]):[0-5]\d)$/;

/** Returns null if the text is not an RFC 3339 timestamp of an existing day. Leap seconds are not supported. */
export function parseInstant(text: string): number | null {
  const [, year, month, day] = TIMESTAMP.exec(text) ?? [];
  if (year === undefined) return null;
  // Date.parse accepts 30 February, which is a day of March.
  const date = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day)));
  if (date.getUTCMonth() !== Number(month) - 1) return null;
  return Date.parse(text.toUpperCase());
}

export function timestamp(instant: number): string {
  return new Date(instant).toISOString();
}

export function timestampOrNull(instant: number | null): string | null {
  return instant === null ? null : timestamp(instant);
}

/** Midnight in UTC of a date such as 2026-03-05; null for another text. */
export function startOfDay(date: string): number | null {
  return parseInstant(`${date}T00:00:00Z`);
}
