// Durations in arguments: 12h, 90d, 1y.

import { InvalidArgumentError } from 'commander';

const UNITS_MS = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000, y: 31_536_000_000 } as const;

/** Returns milliseconds, more than 0. */
export function parseDuration(text: string, longest: string): number {
  const ms = durationMs(text);
  if (!(ms > 0 && ms <= durationMs(longest))) {
    throw new InvalidArgumentError(
      `It must be a number and a unit (m, h, d, w, y), such as 12h, and at most ${longest}.`,
    );
  }
  return ms;
}

/** Returns milliseconds. */
export function parseGracePeriod(text: string): number {
  return text === '0' ? 0 : parseDuration(text, '30d');
}

/** Returns NaN if the text is not a duration. */
function durationMs(text: string): number {
  const [, digits = '', unit = ''] = /^(\d{1,9})([mhdwy])$/.exec(text) ?? [];
  return Number(digits) * UNITS_MS[unit as keyof typeof UNITS_MS];
}
