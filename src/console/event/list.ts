import { type EventTarget, type EventType, eventTypes, targetTypes } from '../../domain/event/event.ts';
import { limits } from '../../domain/field.ts';
import { parseInstant } from '../../domain/instant.ts';
import { type EventQuery, type EventsPage, listEvents } from '../../operations/event/list.ts';
import { choiceField, textField } from '../fields.ts';
import { type Html, html, NO_HTML, none } from '../html.ts';
import { type Page, type PageCall, READERS } from '../page.ts';
import { nextPage, pageQuery } from '../pagination.ts';
import { eventTable, nameOfTarget, nameOfType } from './table.ts';

const DAY_MS = 86_400_000;

/** The conditions as typed, in the URL of the page. Anything that is not valid is no condition. */
interface Filter {
  type: EventType | undefined;
  target_type: EventTarget['type'] | undefined;
  target_id: string;
  actor: string;
  field: string;
  since: string;
  until: string;
}

export const list: Page = {
  method: 'GET',
  path: '/events',
  permissions: READERS,
  purpose: 'list events',
  access: 'list',
  handle: async (call) => ({
    title: 'Events',
    main: html`<h1>Events</h1>
${filterForm(call, true)}
${await pageOfEvents(call, (page) => eventTable(call.caller, page))}`,
  }),
};

/** The page of the list at the cursor in the URL, and a link to the next. `subject` is that of the page, if it has one. */
export async function pageOfEvents(
  { context, caller, query, request }: PageCall,
  renderTable: (page: EventsPage) => Html,
  subject?: EventTarget,
): Promise<Html> {
  const conditions = conditionsOf(readFilter(query), subject);
  const page = await listEvents(context, caller, { order: 'newest', ...conditions, ...pageQuery(query) });
  const [path] = request.url.split('?', 1);
  return html`${page.events.length === 0 ? emptyPage(page) : renderTable(page)}
${nextPage(path!, page.nextCursor, Object.fromEntries(query), 'Older events')}`;
}

/** A page with a filter may be empty although more follow. */
function emptyPage({ nextCursor }: EventsPage): Html {
  return nextCursor === null
    ? none('No events.')
    : none('None of the events that were looked through meets these conditions; continue on the next page.');
}

function readFilter(query: URLSearchParams): Filter {
  const text = (name: string) => (query.get(name) ?? '').slice(0, limits.textCodePoints * 2);
  return {
    type: eventTypes.find((each) => each === query.get('type')),
    target_type: targetTypes.find((each) => each === query.get('target_type')),
    target_id: text('target_id'),
    actor: /^[1-9]\d{0,14}$/.test(text('actor')) ? text('actor') : '',
    field: text('field'),
    since: startOfDay(text('since')) === undefined ? '' : text('since'),
    until: startOfDay(text('until')) === undefined ? '' : text('until'),
  };
}

function conditionsOf(filter: Filter, subject?: EventTarget): Pick<EventQuery, 'type' | 'target' | 'filter'> {
  const { type, target_type, target_id, actor, field, since, until } = filter;
  const target =
    subject ?? (target_id === '' ? undefined : { type: target_type ?? 'user_group', id: target_id });
  const lastDay = startOfDay(until);
  return {
    ...(type && { type }),
    ...(target && { target }),
    filter: {
      targetType: target === undefined ? target_type : undefined,
      actor: actor === '' ? undefined : Number(actor),
      since: startOfDay(since),
      until: lastDay === undefined ? undefined : lastDay + DAY_MS,
      changed: field === '' ? undefined : field,
    },
  };
}

/** In UTC. */
function startOfDay(date: string): number | undefined {
  return parseInstant(`${date}T00:00:00Z`) ?? undefined;
}

/** `hasTarget`: whether the page has events about different things. */
export function filterForm({ query, request }: PageCall, hasTarget: boolean): Html {
  const { type, target_type, target_id, actor, field, since, until } = readFilter(query);
  const [path] = request.url.split('?', 1);
  const target = html`${choiceField({
    name: 'target_type',
    label: 'About',
    value: target_type ?? '',
    choices: [['', 'anything'], ...targetTypes.map((each) => [each, nameOfTarget(each)] as const)],
  })}
${textField({ name: 'target_id', label: 'Id', placeholder: 'any', value: target_id })}`;
  return html`<form class="filters" role="search" method="get" action="${path!}">
${choiceField({
  name: 'type',
  label: 'What',
  value: type ?? '',
  choices: [['', 'anything'], ...eventTypes.map((each) => [each, nameOfType(each)] as const)],
})}
${hasTarget ? target : NO_HTML}
${textField({ name: 'field', label: 'Changed field', placeholder: 'such as mapping.40', value: field })}
${textField({ name: 'actor', label: 'Who', placeholder: 'API token number', value: actor, size: 'small' })}
${textField({ name: 'since', label: 'From (UTC)', value: since, type: 'date' })}
${textField({ name: 'until', label: 'To (UTC)', value: until, type: 'date' })}
<button type="submit">Filter</button>
</form>`;
}
