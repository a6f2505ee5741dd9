// Instants in responses.

import { type Json, plain } from '../json.ts';

const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
/** Eleven years. */
const MAX_DATES = 4_096;

/** `2026-03-02T` by the days since 1970, of the timestamps so far. */
const dates = new Map<number, string>();
/** `09:30:` by the minutes since midnight. */
const minutes = Array.from(
  { length: DAY_MS / MINUTE_MS },
  (_, minute) => `${padded(Math.floor(minute / 60), 2)}:${padded(minute % 60, 2)}:`,
);
/** `07.` */
const seconds = Array.from({ length: 60 }, (_, second) => `${padded(second, 2)}.`);
/** `345Z` */
const milliseconds = Array.from({ length: SECOND_MS }, (_, millisecond) => `${padded(millisecond, 3)}Z`);

function padded(value: number, digits: number): string {
  return String(value).padStart(digits, '0');
}

/** RFC 3339 in UTC. Put together, because `toISOString` alone takes 4 per cent of the time of a read. */
export function timestamp(instant: number): Json {
  const day = Math.floor(instant / DAY_MS);
  const time = instant - day * DAY_MS;
  const minute = minutes[Math.floor(time / MINUTE_MS)];
  const second = seconds[Math.floor(time / SECOND_MS) % 60];
  return plain(`${dateOf(day)}${minute}${second}${milliseconds[time % SECOND_MS]}`);
}

function dateOf(day: number): string {
  let date = dates.get(day);
  if (date === undefined) {
    if (dates.size === MAX_DATES) dates.clear();
    date = new Date(day * DAY_MS).toISOString().replace(/T.*/, 'T');
    dates.set(day, date);
  }
  return date;
}

export function timestampOrNull(instant: number | null): Json | null {
  return instant === null ? null : timestamp(instant);
}

export const timestampSchema = {
  type: 'string',
  format: 'date-time',
  description: 'RFC 3339, UTC.',
} as const;
