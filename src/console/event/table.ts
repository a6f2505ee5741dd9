// Events as rows of a table.

import { type Caller, isPermitted } from '../../domain/api-token.ts';
import type { Actor, EventTarget, EventType, TargetType } from '../../domain/event/event.ts';
import { type JsonObject, parseTree, treeText } from '../../domain/json/json-tree.ts';
import type { JsonText } from '../../domain/json/strict-json.ts';
import { type Html, html, type Insertion, link, NO_HTML, pathTo, table, time } from '../html.ts';
import { ADMINS } from '../page.ts';
import { changeList, changesText } from './changes.ts';

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

/** `events` are in the form that callers of the API see. */
export function eventTable(caller: Caller, events: readonly JsonText[]): Html {
  return eventRows(events, { About: (event) => about(caller, event) });
}

/** The same for events that are all about the subject of the page. */
export function eventTableOfOne(events: readonly JsonText[]): Html {
  return eventRows(events, {});
}

/** `more` has further columns after the second. */
function eventRows(
  events: readonly JsonText[],
  more: Readonly<Record<string, (event: EventFields) => Html>>,
): Html {
  const rows = events
    .map(parsed)
    .map(({ event, changes }) => [
      time(Date.parse(event.occurred_at)),
      what(event),
      ...Object.values(more).map((renderCell) => renderCell(event)),
      who(event.actor),
      changesCell(event, changes),
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
    return link(pathTo('user-groups', target.id, 'events'), target.id);
  return path === null || isGone ? html`<code>${target.id}</code>` : link(path, target.id);
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

function who({ type, id, name, via }: Actor): Insertion {
  if (id === null || type !== 'api_token') return type === 'service' ? 'The service' : 'Command line';
  return html`${name ?? 'API token'}<p class="hint">API token ${id}, by ${VIA[via]}</p>`;
}

function changesCell({ type }: EventFields, changes: JsonText): Html {
  if (changes !== 'null') return changesText(changeList(changes), type.endsWith('.created'));
  const isErased = type === 'user_group.created' || type === 'user_group.updated';
  return isErased ? html`<span class="none">removed when the group was deleted</span>` : NO_HTML;
}
