// A bar chart as SVG, and the same numbers as a table.

import { type Html, html, table } from './html.ts';

interface Bar {
  name: string;
  value: number;
}

interface ChartTexts {
  /** Prefix of the ids of its elements; `chart` if absent. */
  id?: string;
  title: string;
  /** Description for screen readers. */
  description: string;
  /** Columns of the table with the same values. */
  columns: readonly [name: string, value: string];
}

const WIDTH = 400;
const HEIGHT = 220;
/** Space above the highest bar for its value, and below all bars for their names. */
const MARGIN = 28;
/** Maximum number of bars that have a label each. */
const MAX_LABELLED = 8;
/** Space between two bars, as a fraction of the distance between their centres. */
const GAP = 0.3;

export function barChart(
  { id = 'chart', title, description, columns }: ChartTexts,
  bars: readonly Bar[],
): Html {
  const highest = Math.max(1, ...bars.map(({ value }) => value));
  const step = WIDTH / bars.length;
  const isDense = bars.length > MAX_LABELLED;
  const shapes = bars.map(({ name, value }, index) => {
    const height = (Math.max(0, value) / highest) * (HEIGHT - 2 * MARGIN);
    const top = HEIGHT - MARGIN - height;
    const left = (index + GAP / 2) * step;
    const middle = rounded((index + 0.5) * step);
    const bar = html`<rect x="${rounded(left)}" y="${rounded(top)}" width="${rounded(step * (1 - GAP))}" height="${rounded(height)}"/>
`;
    if (isDense) return bar;
    return html`${bar}<text x="${middle}" y="${rounded(top - 8)}" text-anchor="middle">${withSeparators(value)}</text>
<text x="${middle}" y="${HEIGHT - 8}" text-anchor="middle">${name}</text>
`;
  });
  return html`<svg class="chart" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-labelledby="${id}-title ${id}-description">
<title id="${id}-title">${title}</title><desc id="${id}-description">${description}</desc>
${shapes}${isDense ? edges(bars, highest) : ''}<path d="M0 ${HEIGHT - MARGIN}.5h${WIDTH}"/></svg>
<details><summary>As a table</summary>
${table(
  title,
  columns,
  bars.map(({ name, value }) => [name, withSeparators(value)]),
)}</details>`;
}

/** Labels a chart whose bars are too narrow for labels: the first and last name, and the highest value. */
function edges(bars: readonly Bar[], highest: number): Html {
  return html`<text x="0" y="${HEIGHT - 8}">${bars[0]!.name}</text>
<text x="${WIDTH}" y="${HEIGHT - 8}" text-anchor="end">${bars.at(-1)!.name}</text>
<text x="0" y="${MARGIN - 8}">${withSeparators(highest)}</text>
`;
}

export function withSeparators(value: number): string {
  return value.toLocaleString('en');
}

function rounded(value: number): number {
  return Math.round(value * 10) / 10;
}
