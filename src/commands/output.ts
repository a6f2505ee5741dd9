// How commands print: JSON for scripts, aligned columns for people.

/** One JSON document on one line. */
export function printJson(value: unknown): void {
  console.log(JSON.stringify(value));
}

/** Rows under a heading, their columns aligned. */
export function printTable(heading: readonly string[], rows: readonly (readonly string[])[]): void {
  const lines = [heading, ...rows];
  const widths = heading.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  for (const line of lines)
    console.log(
      line
        .map((cell, column) => cell.padEnd(widths[column]!))
        .join('  ')
        .trimEnd(),
    );
}

export function formatInstant(ms: number | null): string {
  return ms === null ? '-' : new Date(ms).toISOString();
}
