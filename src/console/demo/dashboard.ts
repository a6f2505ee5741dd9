// The sample dashboard of a demo user group, and what led to its rows.

import type { Dashboard, DashboardError } from '../../demo/dashboard.ts';
import { demoCustomers } from '../../demo/sample-data.ts';
import type { UserGroup } from '../../domain/user-group/user-group.ts';
import { barChart, withSeparators } from '../markup/chart.ts';
import { code, definitions, type Html, html, isolated, joined, link, none, pathTo } from '../markup/html.ts';
import { jsonText } from '../markup/json.ts';

export function dashboardSection(userGroup: UserGroup, dashboard: Dashboard | DashboardError): Html {
  return html`<section aria-labelledby="dashboard"><h2 id="dashboard">Sample dashboard</h2>
${'error' in dashboard ? failure(dashboard) : drawn(userGroup, dashboard)}
<p>The same dashboard for ${joined(others(userGroup), ' · ')}</p></section>`;
}

function others({ providedId }: UserGroup): Html[] {
  return demoCustomers
    .filter(({ userGroupId }) => userGroupId !== providedId)
    .map(({ userGroupId, name }) => link(pathTo('user-groups', userGroupId, 'view-as'), name));
}

function failure({ error }: DashboardError): Html {
  return html`<div class="problem"><p>${error}</p>
<p>The dashboard shows this error, and never the data of another customer.</p></div>`;
}

function drawn({ name, mapping }: UserGroup, { dataSource, sql, parameters, rows }: Dashboard): Html {
  return html`${rows.length === 0 ? none('No orders.') : chart(name, rows)}
<h3>Why these rows</h3>
${definitions([
  ['Mapping', html`<code>${jsonText(mapping ?? 'null')}</code>`],
  ['Data source', html`<code>${dataSource.providedId}</code>`],
  ...Object.entries(parameters).map(
    ([parameter, value]) => [`:${parameter}`, html`<code>${jsonText(JSON.stringify(value))}</code>`] as const,
  ),
])}
${code(sql)}
<p class="hint">The property <code>customer_id</code> is bound as a parameter; it is never part of the SQL.</p>`;
}

function chart(customer: string, rows: Dashboard['rows']): Html {
  const [first, last] = [rows[0]!, rows.at(-1)!];
  const total = rows.reduce((sum, { revenue }) => sum + revenue, 0);
  return barChart(
    {
      title: `Revenue of ${isolated(customer)} by month`,
      description: `A bar for each month from ${first.month} to ${last.month}; ${withSeparators(total)} in total.`,
      columns: ['Month', 'Revenue'],
    },
    rows.map(({ month, revenue }) => ({ name: month, value: revenue })),
  );
}
