import { DAY_MS } from '../../domain/instant.ts';
import { toDay } from '../../domain/usage.ts';
import { listUsage, type UsageEntry } from '../../operations/usage/list.ts';
import { bdi, type Html, html, joined, none, table } from '../markup/html.ts';
import { type PageCall, unlessBusy } from '../page.ts';

const DAYS = 14;

/** Shows the recent usage of a user group by day. Under load, when lists are slowed down, says so instead. */
export async function lastUsage({ context, caller }: PageCall, userGroupId: string): Promise<Html> {
  const from = toDay(context.clock() - (DAYS - 1) * DAY_MS);
  const all = { to: undefined, groupBy: 'day', integration: null } as const;
  const query = { ...all, from, userGroupId, limit: DAYS };
  const page = await unlessBusy(listUsage(context, caller, query));
  if (page === null) return none('The service is too busy to count it now.');
  return table(
    `Usage of the last ${DAYS} days`,
    ['Day (UTC)', 'Resolved', 'Introspected', 'Let through by a proxy', 'Embed tokens'],
    page.entries.toReversed().map(usageCells),
    `No use under this id was counted in the last ${DAYS} days. A use is counted within a minute.`,
  );
}

function usageCells({ date, resolves, introspections, forward_authentications, embedTokens }: UsageEntry) {
  const tokens = [...embedTokens].map(([integration, count]) => html`${count} for ${bdi(integration)}`);
  return [
    html`<time datetime="${date}">${date}</time>`,
    resolves,
    introspections,
    forward_authentications,
    joined(tokens, ', '),
  ];
}
