// Streams the current list as CSV: reads its pages as fast as the browser takes them.

import { pipeline, Readable } from 'node:stream';
import { stringify } from 'csv-stringify';
import { timestamp, timestampOrNull } from '../../domain/instant.ts';
import { decodeString } from '../../domain/json/json-tree.ts';
import type { JsonText } from '../../domain/json/strict-json.ts';
import { jsonCell, withoutFormulas } from '../../domain/spreadsheet.ts';
import { type SettableFields, type UserGroup, valuesLength } from '../../domain/user-group/user-group.ts';
import { authenticate } from '../../operations/api-token/authenticate.ts';
import { overloaded } from '../../operations/refusals.ts';
import { userGroupPages } from '../../operations/user-group/list.ts';
import { FairShare } from '../../scheduling/fair-share.ts';
import { membersOf } from '../markup/json.ts';
import { type Page, type PageCall, READERS } from '../page.ts';
import { digestOfSession } from '../session/session.ts';
import { listConditions, propertyColumns, readSearch } from './search-form.ts';

const path = '/user-groups/-/export';
export const EXPORT_PATH = `/console${path}`;

const PAGE = 200;
/** Concurrent exports of a workspace per thread: each keeps a page in memory while it is not read. */
const MAX_EXPORTS = 2;

type CellOf = (userGroup: UserGroup) => string | null;

const COLUMNS: Readonly<Record<keyof SettableFields, CellOf> & Record<string, CellOf>> = {
  user_group_id: ({ providedId }) => providedId,
  name: ({ name }) => name,
  status: ({ suspendedAt }) => (suspendedAt === null ? 'active' : 'suspended'),
  created_at: ({ createdAt }) => timestamp(createdAt),
  updated_at: ({ updatedAt }) => timestamp(updatedAt),
  last_seen_at: ({ lastSeenAt }) => timestampOrNull(lastSeenAt),
  mapping: ({ mapping }) => mapping && jsonCell(mapping),
  properties: ({ properties }) => properties && jsonCell(properties),
};

/** Exports in progress by workspace; their total has no limit. */
const running = new FairShare(Number.POSITIVE_INFINITY);

/** Exports the list whose conditions are in the URL. */
export const exportList: Page = {
  method: 'GET',
  path,
  permissions: READERS,
  purpose: 'export user groups',
  access: 'list',
  handle: async (call) => {
    const { workspaceId, environment } = call.caller;
    if (running.heldBy(workspaceId) >= MAX_EXPORTS) throw overloaded;
    // A tab that is still open may belong to the environment before a switch.
    const fileName = `user-groups-${environment.toLowerCase()}.csv`;
    return { fileName, contentType: 'text/csv; charset=utf-8', content: csv(call) };
  },
};

/** Writes CSV for spreadsheets, which recognize UTF-8 by the byte order mark. */
function csv(call: PageCall): Readable {
  const { workspaceId } = call.caller;
  const format = stringify({
    header: true,
    bom: true,
    columns: [...Object.keys(COLUMNS), ...propertiesOf(call).map((name) => `properties.${name}`)],
    cast: { string: withoutFormulas },
    record_delimiter: 'windows',
  });
  running.take(workspaceId, 1);
  // A failure aborts the download, so the browser knows that it is incomplete.
  pipeline(Readable.from(records(call)), format, () => running.release(workspaceId, 1));
  return format;
}

/**
 * Reads without the deadline of the request: a large list takes minutes. A browser can read as slowly as it
 * likes, so the API token is checked again for every page. Throws `Unauthenticated`.
 */
async function* records(call: PageCall): AsyncGenerator<(string | null)[]> {
  const { context, caller, session, query } = call;
  const names = propertiesOf(call);
  const unbounded = {
    ...context,
    store: context.store.until(Number.POSITIVE_INFINITY),
    cpu: context.cpu.until(Number.POSITIVE_INFINITY),
  };
  const pages = userGroupPages(unbounded, caller, { ...listConditions(readSearch(query)), limit: PAGE });
  const digest = digestOfSession(session);
  for await (const page of pages) {
    await authenticate(unbounded, digest);
    for (const userGroup of page) {
      if (names.length > 0) await unbounded.cpu.turn(valuesLength(userGroup));
      yield toRecord(userGroup, names);
    }
  }
}

/** Properties with a column of their own, as on the page. */
function propertiesOf({ query }: PageCall): string[] {
  return propertyColumns(readSearch(query)).shown;
}

function toRecord(userGroup: UserGroup, names: readonly string[]): (string | null)[] {
  const cells = Object.values(COLUMNS).map((cellOf) => cellOf(userGroup));
  if (names.length === 0) return cells;
  const members = membersOf(userGroup.properties);
  return [...cells, ...names.map((name) => propertyCell(members.get(name)))];
}

/** Without line breaks, after which a spreadsheet that ignores quotes would begin a row. */
function propertyCell(json: JsonText | undefined): string | null {
  if (json === undefined) return null;
  return json[0] === '"' ? decodeString(json).replace(/\p{Cc}+/gu, ' ') : jsonCell(json);
}
