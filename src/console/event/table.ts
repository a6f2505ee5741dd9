// Events as rows of a table.

import { type Caller, isPermitted } from '../../domain/api-token.ts';
import type { Actor, EventType, StoredEvent } from '../../domain/event/event.ts';
import { actorLabel } from '../../domain/event/filter.ts';
import type { EventsPage } from '../../operations/event/list.ts';
import { GRACE_MS } from '../../operations/machinery/cpu-queue.ts';
import { wordsOf } from '../form/fields.ts';
import {
  breakable,
  type Html,
  html,
  type Insertion,
  idCell,
  identifier,
  joined,
  link,
  NO_HTML,
  pathTo,
  table,
  time,
} from '../markup/html.ts';
import { type PageCall, WRITERS } from '../page.ts';
import { type Change, changeList, changesText, isRestorable } from './changes.ts';
import { eventsBy, pathOfTarget } from './paths.ts';

const VIA: Readonly<Record<Actor['via'], string>> = {
  api: 'API',
  console: 'console',
  command_line: 'command line',
  service: 'service',
};

/** Size of JSON whose processing takes as long as rendering a change. */
const CHANGE_BYTES = 512;

/**
 * Shows the first events that fit into `maxBytes`, with a column that links to what each is about, unless all
 * are about the user group `userGroupId`, even under its earlier ids. An event may have 200 changes, about 100 KB.
 * Returns the number of events too: at least one if there is any.
 */
export async function eventTable(
  { context: { cpu }, caller }: Pick<PageCall, 'context' | 'caller'>,
  { events }: EventsPage,
  maxBytes: number,
  userGroupId?: string,
): Promise<{ table: Html; count: number }> {
  const isOfOne = userGroupId !== undefined;
  const rows: Insertion[][] = [];
  let bytes = 0;
  for (const event of events) {
    const changes = changeList(event.changes);
    await cpu.turn(changes.length * CHANGE_BYTES, GRACE_MS);
    const row = [
      time(event.occurredAt),
      what(event, changes),
      ...(isOfOne ? [] : [about(caller, event)]),
      who(event.actor),
      changesCell(caller, event, changes, userGroupId),
    ];
    bytes += Buffer.byteLength(html`${row.map((cell) => html`${cell}`)}`.markup);
    if (rows.length > 0 && bytes > maxBytes) break;
    rows.push(row);
  }
  const columns = ['When', 'What', ...(isOfOne ? [] : ['About']), 'Who', 'Changes'];
  return { table: table('Events', columns, rows), count: rows.length };
}

function what({ type, version, requestId }: StoredEvent, changes: readonly Change[]): Html {
  const details = [
    ...(version === null ? [] : [html`version ${version}`]),
    ...(requestId === null ? [] : [html`request ${identifier(requestId)}`]),
  ];
  return html`${title(type, changes)}<p class="hint">${joined(details, ', ')}</p>`;
}

/** A suspension is an update, but people look for it by its name. */
function title(type: EventType, changes: readonly Change[]): string {
  const suspension = changes.find(({ path }) => type === 'user_group.updated' && path[0] === 'suspended');
  if (suspension === undefined) return wordsOf(type);
  const done = suspension.to === 'true' ? 'suspended' : 'resumed';
  return changes.length === 1 ? `User group ${done}` : `User group updated and ${done}`;
}

function about(caller: Caller, { type, target }: StoredEvent): Html {
  const path = pathOfTarget(caller, target);
  const isGone = type.endsWith('.deleted') || type.endsWith('.revoked');
  if (target.type === 'user_group' && isGone)
    return idCell(pathTo('user-groups', target.id, 'events'), target.id);
  return idCell(isGone ? null : path, target.id);
}

function who(actor: Actor): Insertion {
  const { id, name, via } = actor;
  if (id === null) return actorLabel(actor);
  return html`${breakable(name ?? 'API token')}<p class="hint">${link(eventsBy(id), `API token ${id}`)}, by ${VIA[via]}</p>`;
}

function changesCell(
  caller: Caller,
  { type, target, position, version, changes: stored }: StoredEvent,
  changes: readonly Change[],
  userGroupId = target.id,
): Html {
  if (stored === null) {
    const isErased = type === 'user_group.created' || type === 'user_group.updated';
    return isErased ? html`<span class="none">removed when the group was deleted</span>` : NO_HTML;
  }
  if (target.type !== 'user_group') return changesText(changes, type.endsWith('.created'));
  const group = pathTo('user-groups', userGroupId);
  const mayRestore = type === 'user_group.updated' && isPermitted(caller, WRITERS);
  const restorePath = `${group}/restore?position=${position}`;
  const place = `version ${version} of ${target.id}`;
  const links = (change: Change) => {
    const field = change.path.join('.');
    return html` <span class="links">${link(`${group}/events?${new URLSearchParams({ field })}`, 'History', `of ${field} of ${target.id}`)}${
      mayRestore && isRestorable(change)
        ? html` ${link(`${restorePath}&${new URLSearchParams({ field: JSON.stringify(change.path) })}`, 'Restore this value', `of ${field} before ${place}`)}`
        : ''
    }</span>`;
  };
  return html`${changesText(changes, type.endsWith('.created'), links)}${mayRestore && changes.some(isRestorable) ? html`<p class="links">${link(restorePath, 'Undo', place)}</p>` : ''}`;
}
