import { isPermitted } from '../../domain/api-token.ts';
import {
  type EventTarget,
  eventTypes,
  type TargetType,
  targetTypeOf,
  targetTypes,
} from '../../domain/event/event.ts';
import { actorLabel } from '../../domain/event/filter.ts';
import { limits } from '../../domain/field.ts';
import { DAY_MS, startOfDay } from '../../domain/instant.ts';
import { listNewestApiTokens } from '../../operations/api-token/api-token.ts';
import type { Context } from '../../operations/context.ts';
import { type EventQuery, type EventsPage, listEvents } from '../../operations/event/list.ts';
import { choiceField, filterField, textField, wordsOf } from '../form/fields.ts';
import { trimmed } from '../form/form.ts';
import { type Html, html, isolated, link, NO_HTML, none, titleWith, userGroupLink } from '../markup/html.ts';
import { nextPage, pageQuery } from '../markup/pagination.ts';
import { ADMINS, type Page, type PageCall, READERS, type View } from '../page.ts';
import { requestPath } from '../request/browser.ts';
import { noEvents } from './last.ts';
import { eventTable } from './table.ts';

/** Rows per page, fewer than in other lists because they are higher and larger. */
const EVENTS = 25;
/** Maximum size of the events on a page. */
const MAX_BYTES = 50_000;
/** Maximum number of API tokens suggested from the revoked ones, and from the others. Any can be typed. */
const MAX_SUGGESTIONS = 100;
const OLDER = 'Older events';
const NUMBER = /^[1-9]\d{0,14}$/;

type Filter = ReturnType<typeof readFilter>;

export const list: Page = {
  method: 'GET',
  path: '/events',
  permissions: READERS,
  purpose: 'list events',
  access: 'list',
  handle: (call) => eventsView(call, 'Events'),
};

/**
 * Shows the filter, the page of events at the cursor in the URL, and a link to the next page. `subject` is
 * the user group that the page is about, if any.
 */
export async function eventsView(call: PageCall, title: string, subject?: EventTarget): Promise<View> {
  const { context, caller, query, request } = call;
  const filter = readFilter(query);
  const conditions = conditionsOf(filter, subject);
  const listed = { order: 'newest', ...conditions, ...pageQuery(query, EVENTS) } as const;
  const [page, apiTokens] = await Promise.all([listEvents(context, caller, listed), apiTokenLabels(call)]);
  const { table, count } = await eventTable(call, page, MAX_BYTES, subject?.id);
  // The next page begins after the events shown. An event recorded meanwhile makes it repeat one of them.
  const isCut = count < page.events.length;
  const { nextCursor } = isCut ? await listEvents(context, caller, { ...listed, limit: count }) : page;
  const texts = conditionTexts(filter, subject);
  const actors = [...new Set([...page.events.map(({ actor }) => actorLabel(actor)), ...apiTokens])];
  const path = requestPath(request);
  return {
    title: titleWith(title, texts),
    heading: subject === undefined ? title : 'Events of a user group',
    main: html`${subject === undefined ? '' : html`<p>${userGroupLink(subject.id)}</p>`}
${filterForm(path, filter, actors, subject?.type)}
${page.events.length === 0 ? emptyPage(context, page, path, filter, texts) : table}
${nextPage(path, nextCursor, Object.fromEntries(query), OLDER)}`,
  };
}

/** Returns labels of the newest API tokens, for a person who may list them. */
async function apiTokenLabels({ context, caller }: PageCall): Promise<string[]> {
  if (!isPermitted(caller, ADMINS)) return [];
  const pages = await Promise.all(
    [false, true].map((isRevoked) =>
      listNewestApiTokens(context, caller, { limit: MAX_SUGGESTIONS, isRevoked }),
    ),
  );
  return pages
    .flatMap(({ apiTokens }) => apiTokens)
    .map(({ apiTokenId: id, name }) => actorLabel({ type: 'api_token', id, name }));
}

const MEMBER_HINT = 'Write a property as properties.plan, and an entry of the mapping as mapping.40.';

/** Says that a page has no events. With a filter, more may follow. */
function emptyPage(
  context: Context,
  { nextCursor }: EventsPage,
  path: string,
  { field }: Filter,
  texts: readonly string[],
): Html {
  if (context.eventRetentionDays === 0 || texts.length === 0) return noEvents(context);
  const hint = field === '' || field.includes('.') ? '' : ` ${MEMBER_HINT}`;
  const conditions = `these conditions: ${texts.join(', ')}`;
  const text =
    nextCursor === null
      ? `No events meet ${conditions}. Requests that changed nothing are not recorded.`
      : `None of the events searched so far meets ${conditions}. Continue with “${OLDER}”.`;
  return html`${none(text + hint)}<p>${link(path, 'Show all events')}</p>`;
}

/** Returns the conditions as a person reads them in a title or a sentence. */
function conditionTexts(filter: Filter, subject?: EventTarget): string[] {
  const { type, target_type, target_id, actor, field, request_id, since, until } = filter;
  return [
    type ? wordsOf(type) : '',
    target_type && !subject ? `${wordsOf(target_type)} ${isolated(target_id)}`.trim() : '',
    field && `changed field ${isolated(field)}`,
    actor && `by ${NUMBER.test(actor) ? `API token ${actor}` : isolated(actor)}`,
    request_id && `request ${isolated(request_id)}`,
    since && `from ${since} (UTC)`,
    until && `to ${until} (UTC)`,
  ].filter((text) => text !== '');
}

/** Returns the conditions as typed, in the URL of the page, without invalid ones. */
function readFilter(query: URLSearchParams) {
  const text = (name: string) => (query.get(name) ?? '').slice(0, limits.textCodePoints * 2);
  const type = eventTypes.find((each) => each === query.get('type'));
  const target_id = trimmed(text('target_id'));
  // An id belongs to one type of target, which the form then shows.
  const ofId = target_id === '' ? undefined : targetTypeOf(type ?? 'user_group.created');
  return {
    type,
    target_type: targetTypes.find((each) => each === query.get('target_type')) ?? ofId,
    target_id,
    // Number of an API token, or a part of its label.
    actor: trimmed(text('actor')),
    field: text('field'),
    request_id: trimmed(text('request_id')),
    since: startOfDay(text('since')) === null ? '' : text('since'),
    until: startOfDay(text('until')) === null ? '' : text('until'),
  };
}

function conditionsOf(filter: Filter, subject?: EventTarget): Pick<EventQuery, 'type' | 'target' | 'filter'> {
  const { type, target_type, target_id, actor, field, request_id, since, until } = filter;
  const target = subject ?? (target_type && target_id ? { type: target_type, id: target_id } : undefined);
  const lastDay = startOfDay(until);
  return {
    ...(type && { type }),
    ...(target && { target }),
    filter: {
      targetType: target === undefined ? target_type : undefined,
      ...(NUMBER.test(actor) ? { actor: Number(actor) } : { actorText: actor || undefined }),
      since: startOfDay(since) ?? undefined,
      until: lastDay === null ? undefined : lastDay + DAY_MS,
      changed: field || undefined,
      requestId: request_id || undefined,
    },
  };
}

/** `subject` is the type of target if all events of the page are about one target. */
function filterForm(path: string, filter: Filter, actors: readonly string[], subject?: TargetType): Html {
  const { type, target_type, target_id, actor, field, request_id, since, until } = filter;
  // Links contain only the number.
  const who = actors.find((label) => label.endsWith(`(${actor})`)) ?? actor;
  const types = eventTypes.filter((each) => subject === undefined || targetTypeOf(each) === subject);
  const target = html`${oneOrAny('target_type', 'About', targetTypes, target_type)}
${filterField({ name: 'target_id', label: 'Id', placeholder: 'the whole id', value: target_id })}`;
  return html`<form class="filters" role="search" method="get" action="${path}" autocomplete="off">
${oneOrAny('type', 'What', types, type)}
${subject === undefined ? target : NO_HTML}
${filterField({ name: 'field', label: 'Changed field', placeholder: 'mapping.40, suspended', value: field })}
${filterField({ name: 'actor', label: 'Who', placeholder: 'name or number', value: who, list: 'actors' })}
<datalist id="actors">${actors.map((label) => html`<option value="${label}"></option>`)}</datalist>
${filterField({ name: 'request_id', placeholder: 'any', value: request_id })}
${textField({ name: 'since', label: 'From (UTC)', value: since, type: 'date' })}
${textField({ name: 'until', label: 'To (UTC)', value: until, type: 'date' })}
<button type="submit">Filter</button>
</form>`;
}

function oneOrAny(name: string, label: string, values: readonly string[], value = ''): Html {
  const named = values.map((each) => [each, wordsOf(each)] as const);
  return choiceField({ name, label, value, choices: [['', 'anything'], ...named] });
}
