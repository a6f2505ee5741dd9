// Start page of the console: figures about the environment, each with a link to what it counts.

import { isPermitted } from '../../domain/api-token.ts';
import { CHART_DAYS, type CountedFigures, type DayCounts } from '../../domain/figures.ts';
import { type Day, dayDate, toDay } from '../../domain/usage.ts';
import { countedAt, countedFigures } from '../figures.ts';
import { barChart, withSeparators } from '../markup/chart.ts';
import { type Html, html, link, none } from '../markup/html.ts';
import { pageUrl } from '../markup/pagination.ts';
import { ADMINS, type Page, type PageCall, READERS } from '../page.ts';
import { LIST_PATH } from '../user-group/search-form.ts';
import { attention } from './attention.ts';

const PATH = '/console';

export const overview: Page = {
  method: 'GET',
  path: '',
  permissions: READERS,
  purpose: 'see the overview',
  handle: async (call) => {
    const figures = await countedFigures(call);
    return {
      title: 'Overview',
      main: html`${isPermitted(call.caller, ADMINS) ? await attention(call) : ''}
<section id="figures" aria-labelledby="user-groups"><h2 id="user-groups">User groups</h2>
${figures === null ? COUNTING : html`${userGroups(figures)}${charts(call, figures)}`}
</section>`,
    };
  },
};

/** Loads the figures by itself if there is JavaScript. */
const COUNTING = html`<div hx-get="${PATH}" hx-trigger="load delay:1s" hx-target="#figures" hx-select="#figures" hx-swap="outerHTML">
${none('User groups are being counted. Reload this page in a moment.')}</div>`;

function userGroups(figures: CountedFigures): Html {
  return html`<p>${countedAt(figures)}</p>
<dl class="figures">${[
    figure('Total', figures.userGroups, {}),
    figure('New this week', figures.created, { created_since: dateText(figures.createdSince) }),
    figure('Suspended', figures.suspended, { suspended: 'yes' }),
    figure('Never seen', figures.neverSeen, { seen: 'never' }),
    figure('Not seen for 30 days, or never', figures.unseen, { seen_before: dateText(figures.seenBefore) }),
    figure('With a broken mapping', figures.invalidMapping, { invalid: 'mapping' }),
    figure('With properties that violate the schema', figures.invalidProperties, { invalid: 'properties' }),
  ]}</dl>`;
}

/** Highlights a count of user groups that break a rule. */
function figure(name: string, count: number, condition: Readonly<Record<string, string>>): Html {
  const kind = count > 0 && 'invalid' in condition ? html` class="bad"` : '';
  return html`<div${kind}><dt>${name}</dt><dd>${link(pageUrl(LIST_PATH, condition), withSeparators(count), name)}</dd></div>`;
}

function dateText(instant: number): string {
  return dayDate(toDay(instant));
}

function charts(call: PageCall, { resolves, changes }: CountedFigures): Html {
  const today = toDay(call.context.clock());
  return html`<div class="charts">${dayChart('resolves', 'Resolves', resolves, today)}
${dayChart('changes', 'Changes', changes, today)}</div>`;
}

/** Leaves out days that were not counted completely. */
function dayChart(id: string, column: string, { counts, since }: DayCounts, today: Day): Html {
  const title = `${column} per day`;
  const first = Math.max(since, today - CHART_DAYS + 1);
  const days = Array.from({ length: Math.max(0, today - first + 1) }, (_, index) => first + index);
  const bars = days.map((day) => ({ name: dayDate(day), value: counts[day] ?? 0 }));
  const total = bars.reduce((sum, { value }) => sum + value, 0);
  if (total === 0) {
    const reason = bars.length === 0 ? 'Too many to count.' : `None since ${bars[0]!.name} (UTC).`;
    return html`<section><h3>${title}</h3>${none(reason)}</section>`;
  }
  return html`<section aria-labelledby="${id}"><h3 id="${id}">${title}</h3>
${barChart(
  {
    id: `${id}-chart`,
    title,
    description: `A bar for each day (UTC) from ${bars[0]!.name} to ${bars.at(-1)!.name}; ${withSeparators(total)} in total.`,
    columns: ['Day (UTC)', column],
  },
  bars,
)}</section>`;
}
