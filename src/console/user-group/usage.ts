import { DAY_MS, toDay } from '../../domain/usage.ts';
import { listUsage, type UsageEntry } from '../../operations/usage/list.ts';
import { StoreUnavailable } from '../../store/port.ts';
import { type Html, html, none, table } from '../html.ts';
import type { PageCall } from '../page.ts';

const DAYS = 14;

/** How often the tokens of a user group were used on its last days. Like lists, it is left out under load. */
export async function lastUsage({ context, caller }: PageCall, userGroupId: string): Promise<Html> {
  try {
    const from = toDay(context.clock() - (DAYS - 1) * DAY_MS);
    const query = {
      from,
      to: undefined,
      groupBy: 'day',
      userGroupId,
      integration: null,
      limit: DAYS,
    } as const;
    const { entries } = await listUsage(context, caller, query);
    const columns = ['Day (UTC)', 'Resolved', 'Introspected', 'Let through by a proxy', 'Embed tokens'];
    return table(
      `Usage of the last ${DAYS} days`,
      columns,
      entries.toReversed().map(usageCells),
      `Not used in the last ${DAYS} days.`,
    );
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error;
    return none('The service is too busy to count it now.');
  }
}

function usageCells({ date, resolves, introspections, forward_authentications, embedTokens }: UsageEntry) {
  const tokens = [...embedTokens].map(([integration, count]) => `${count} for ${integration}`);
  return [
    html`<time datetime="${date}">${date}</time>`,
    resolves,
    introspections,
    forward_authentications,
    tokens.join(', '),
  ];
}
