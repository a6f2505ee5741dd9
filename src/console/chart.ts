// A bar chart as SVG, and the same numbers as a table.

import { type Html, html, table } from './html.ts';

export interface Bar {
  name: string;
  value: number;
}

interface ChartTexts {
  title: string;
  /** For screen readers. */
  description: string;
  /** Columns of the table with the same values. */
  columns: readonly [name: string, value: string];
}

const WIDTH = 400;
const HEIGHT = 220;
/** Above the highest bar for its value, and below all bars for their names. */
const MARGIN = 28;
/** Between bars, of the width of one. */
const GAP = 0.3;

export function barChart({ title, description, columns }: ChartTexts, bars: readonly Bar[]): Html {
  const highest = Math.max(1, ...bars.map(({ value }) => value));
  const step = WIDTH / bars.length;
  const shapes = bars.map(({ name, value }, index) => {
    const height = (Math.max(0, value) / highest) * (HEIGHT - 2 * MARGIN);
    const top = HEIGHT - MARGIN - height;
    const left = (index + GAP / 2) * step;
    const middle = rounded((index + 0.5) * step);
    return html`<rect x="${rounded(left)}" y="${rounded(top)}" width="${rounded(step * (1 - GAP))}" height="${rounded(height)}"/>
<text x="${middle}" y="${rounded(top - 8)}" text-anchor="middle">${withSeparators(value)}</text>
<text x="${middle}" y="${HEIGHT - 8}" text-anchor="middle">${name}</text>
`;
  });
  return html`<svg class="chart" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-labelledby="chart-title chart-description">
<title id="chart-title">${title}</title><desc id="chart-description">${description}</desc>
${shapes}</svg>
<details><summary>As a table</summary>
${table(
  title,
  columns,
  bars.map(({ name, value }) => [name, withSeparators(value)]),
)}</details>`;
}

export function withSeparators(value: number): string {
  return value.toLocaleString('en');
}

function rounded(value: number): number {
  return Math.round(value * 10) / 10;
}
