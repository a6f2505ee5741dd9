// Instants in responses.

/** RFC 3339 in UTC. */
export function timestamp(instant: number): string {
  return new Date(instant).toISOString();
}

export function timestampOrNull(instant: number | null): string | null {
  return instant === null ? null : timestamp(instant);
}

export const timestampSchema = {
  type: 'string',
  format: 'date-time',
  description: 'RFC 3339, UTC.',
} as const;
