import { type EventTarget, type EventType, eventTypes, targetTypes } from '../../domain/event/event.ts';
import { limits } from '../../domain/field.ts';
import type { JsonText } from '../../domain/json/strict-json.ts';
import { type EventsPage, listEvents } from '../../operations/event/list.ts';
import { choiceField, textField } from '../fields.ts';
import { type Html, html, none, pathTo } from '../html.ts';
import { type Page, type PageCall, READERS } from '../page.ts';
import { nextPage, pageQuery } from '../pagination.ts';
import { eventTable, nameOfTarget, nameOfType } from './table.ts';

/** Query parameters of the page. */
interface Filter {
  type: EventType | '';
  target_type: EventTarget['type'];
  target_id: string;
}

export const list: Page = {
  method: 'GET',
  path: '/events',
  permissions: READERS,
  purpose: 'list events',
  access: 'list',
  handle: async (call) => {
    const filter = readFilter(call.query);
    const { type, target_type, target_id } = filter;
    const target = target_id === '' ? undefined : { type: target_type, id: target_id };
    return {
      title: 'Events',
      main: html`<h1>Events</h1>
${filterForm(filter)}
${await pageOfEvents(call, (events) => eventTable(call.caller, events), {
  ...(type !== '' && { type }),
  ...(target && { target }),
})}`,
    };
  },
};

/** The page of the list at the cursor in the URL, and a link to the next. */
export async function pageOfEvents(
  { context, caller, query, request }: PageCall,
  renderTable: (events: readonly JsonText[]) => Html,
  filter: { type?: EventType; target?: EventTarget },
): Promise<Html> {
  const page = await listEvents(context, caller, { order: 'newest', ...filter, ...pageQuery(query) });
  const [path] = request.url.split('?', 1);
  return html`${page.events.length === 0 ? emptyPage(page) : renderTable(page.events)}
${nextPage(path!, page.nextCursor, Object.fromEntries(query), 'Older events')}`;
}

/** A page with a filter may be empty although more follow. */
function emptyPage({ nextCursor }: EventsPage): Html {
  return nextCursor === null
    ? none('No events.')
    : none('None of the events that were looked through meets these conditions; continue on the next page.');
}

/** Anything else in the URL is no filter. */
function readFilter(query: URLSearchParams): Filter {
  return {
    type: eventTypes.find((each) => each === query.get('type')) ?? '',
    target_type: targetTypes.find((each) => each === query.get('target_type')) ?? 'user_group',
    target_id: (query.get('target_id') ?? '').slice(0, limits.textCodePoints * 2),
  };
}

function filterForm({ type, target_type, target_id }: Filter): Html {
  return html`<form class="filters" role="search" method="get" action="${pathTo('events')}">
${choiceField({
  name: 'type',
  label: 'What',
  value: type,
  choices: [['', 'anything'], ...eventTypes.map((each) => [each, nameOfType(each)] as const)],
})}
${choiceField({
  name: 'target_type',
  label: 'About',
  value: target_type,
  choices: targetTypes.map((each) => [each, nameOfTarget(each)] as const),
})}
${textField({ name: 'target_id', label: 'Id', hint: 'Empty: about anything.', value: target_id })}
<button type="submit" class="primary">Filter</button>
</form>`;
}
