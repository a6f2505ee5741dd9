// Events as rows of a table.

import { type Caller, isPermitted } from '../../domain/api-token.ts';
import type { Actor, EventTarget, EventType, TargetType } from '../../domain/event/event.ts';
import { actorLabel } from '../../domain/event/filter.ts';
import { type JsonObject, parseTree, treeText } from '../../domain/json/json-tree.ts';
import type { JsonText } from '../../domain/json/strict-json.ts';
import type { EventsPage } from '../../operations/event/list.ts';
import { type Html, html, type Insertion, idCell, link, NO_HTML, pathTo, table, time } from '../html.ts';
import { ADMINS, WRITERS } from '../page.ts';
import { type Change, changeList, changesText, isRestorable } from './changes.ts';

/** The event as the API returns it, without the changes. */
interface EventFields {
  type: EventType;
  occurred_at: string;
  actor: Actor;
  target: EventTarget;
  version: number | null;
  request_id: string | null;
}

const VIA = {
  api: 'API',
  console: 'console',
  command_line: 'command line',
  service: 'service',
} as const satisfies Record<Actor['via'], string>;

/** The labels of those who made the changes, each once. */
export function actorLabels({ events }: Events): string[] {
  return [...new Set(events.map((text) => actorLabel((JSON.parse(text) as EventFields).actor)))];
}

/** Events in the form that callers of the API see, with their positions. */
type Events = Pick<EventsPage, 'events' | 'positions'>;

export function eventTable(caller: Caller, page: Events): Html {
  return eventRows(caller, page, { About: (event) => about(caller, event) });
}

/** The same for events that are all about one user group, also under its earlier ids. */
export function eventTableOfOne(caller: Caller, page: Events, userGroupId: string): Html {
  return eventRows(caller, page, {}, userGroupId);
}

/** `more` has further columns after the second. */
function eventRows(
  caller: Caller,
  { events, positions }: Events,
  more: Readonly<Record<string, (event: EventFields) => Html>>,
  userGroupId?: string,
): Html {
  const rows = events
    .map(parsed)
    .map(({ event, changes }, index) => [
      time(Date.parse(event.occurred_at)),
      what(event),
      ...Object.values(more).map((renderCell) => renderCell(event)),
      who(event.actor),
      changesCell(caller, { event, changes, position: positions[index]! }, userGroupId),
    ]);
  return table('Events', ['When', 'What', ...Object.keys(more), 'Who', 'Changes'], rows);
}

function parsed(text: JsonText): { event: EventFields; changes: JsonText } {
  const changes = treeText((parseTree(text) as JsonObject).members.get('"changes"')!);
  return { event: JSON.parse(text) as EventFields, changes };
}

/** Such as "User group token rotated". */
export function nameOfType(type: EventType): string {
  const text = type.replace('.', ' ').replaceAll('_', ' ');
  return sentence(text);
}

export function nameOfTarget(type: TargetType): string {
  return sentence(type.replaceAll('_', ' '));
}

function sentence(text: string): string {
  return text.startsWith('api ') ? `API${text.slice(3)}` : text[0]!.toUpperCase() + text.slice(1);
}

function what({ type, version, request_id }: EventFields): Html {
  const details = [
    ...(version === null ? [] : [`version ${version}`]),
    ...(request_id === null ? [] : [`request ${request_id}`]),
  ];
  return html`${nameOfType(type)}<p class="hint">${details.join(', ')}</p>`;
}

function about(caller: Caller, { type, target }: EventFields): Html {
  const path = pathOfTarget(caller, target);
  const isGone = type.endsWith('.deleted') || type.endsWith('.revoked');
  if (target.type === 'user_group' && isGone)
    return idCell(pathTo('user-groups', target.id, 'events'), target.id);
  return idCell(isGone ? null : path, target.id);
}

/** null if there is no page that this person may see. */
function pathOfTarget(caller: Caller, { type, id }: EventTarget): string | null {
  const forAdmin = (path: string) => (isPermitted(caller, ADMINS) ? path : null);
  switch (type) {
    case 'user_group':
      return pathTo('user-groups', id);
    case 'schema':
      return pathTo('catalogue', 'schemas', id);
    case 'data_source':
      return pathTo('catalogue', 'data-sources', id);
    case 'integration':
      return forAdmin(pathTo('integrations', id));
    case 'webhook_endpoint':
      return forAdmin(pathTo('webhooks', id));
    case 'api_token':
      return forAdmin(pathTo('api-tokens', id));
    case 'mapping_policy':
    case 'property_schema':
      return pathTo('catalogue');
    case 'key_set':
      return forAdmin(pathTo('integrations', '-', 'signing-keys'));
    default:
      return type satisfies never;
  }
}

function who(actor: Actor): Insertion {
  const { id, name, via } = actor;
  if (id === null) return actorLabel(actor);
  return html`${name ?? 'API token'}<p class="hint">API token ${link(`${pathTo('events')}?actor=${id}`, String(id))}, by ${VIA[via]}</p>`;
}

interface Row {
  event: EventFields;
  changes: JsonText;
  position: number;
}

function changesCell(caller: Caller, { event, changes, position }: Row, userGroupId = event.target.id): Html {
  const { type, target } = event;
  if (changes === 'null') {
    const isErased = type === 'user_group.created' || type === 'user_group.updated';
    return isErased ? html`<span class="none">removed when the group was deleted</span>` : NO_HTML;
  }
  const list = changeList(changes);
  if (target.type !== 'user_group') return changesText(list, type.endsWith('.created'));
  const group = pathTo('user-groups', userGroupId);
  const isUpdate = type === 'user_group.updated' && target.id === userGroupId;
  const mayRestore = isUpdate && isPermitted(caller, WRITERS);
  const restorePath = `${group}/restore?position=${position}`;
  const links = (change: Change) =>
    html` <span class="links">${link(`${group}/events?${new URLSearchParams({ field: change.path.join('.') })}`, 'History')}${
      mayRestore && isRestorable(change)
        ? html` ${link(`${restorePath}&${new URLSearchParams({ field: JSON.stringify(change.path) })}`, 'Restore this value')}`
        : ''
    }</span>`;
  return html`${changesText(list, type.endsWith('.created'), links)}${mayRestore && list.some(isRestorable) ? html`<p class="links">${link(restorePath, 'Undo')}</p>` : ''}`;
}
