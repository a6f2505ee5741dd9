import {
  type Document,
  documentChanges,
  documentTag,
  exceededLimit,
  nextVersion,
} from '../../domain/document.ts';
import { isMetByTag } from '../../domain/precondition.ts';
import type { Tenant } from '../../domain/tenant.ts';
import { DOCUMENT, DOCUMENT_KEY, TENANT } from '../entities.ts';
import { CONFIG_PAGE, type Command, type CommandResult } from '../port.ts';
import { documentTotal, READS } from '../reads.ts';
import type { Cell } from '../row-shape.ts';
import { COPY_DOCUMENT, DELETE_DOCUMENT, PUT_DOCUMENT, RESEAL_DOCUMENT } from '../writes.ts';
import { record } from './event/record.ts';
import type { CommandExecutor, QueryExecutor } from './executor.ts';
import type { Connection } from './file/connection.ts';
import { asStoreError } from './file/file-error.ts';

const LIST = `select ${DOCUMENT.names} from documents where workspace_id = ? and environment = ?
  order by kind, document_id`;
const HAS_SECOND_PAGE = `select 1 from documents where workspace_id = ? and environment = ? limit 1 offset ${CONFIG_PAGE}`;
const INCREMENT = `insert into environments (workspace_id, environment, config_version) values (?, ?, 1)
  on conflict (workspace_id, environment) do update set config_version = config_version + 1`;

/** The version is read first: documents that change in between are newer than it, and are read again. */
export const findConfig: QueryExecutor<'findConfig'> = (connection, { tenant }) => {
  const cells = TENANT.cells(tenant);
  const version = connection.read(READS.findConfigVersion({ tenant }));
  const isLarge = connection.get(HAS_SECOND_PAGE, cells) !== undefined;
  const pages = isLarge ? readPages(connection, cells) : [DOCUMENT.readAll(connection.all(LIST, cells))];
  return { version, pages };
};

/**
 * Reads with one statement on a connection of its own, so that other queries read the newest state between
 * two pages. Only the first page opens the connection: a batch that fails reads none.
 */
function* readPages(connection: Connection, tenant: readonly Cell[]): Iterable<Document[]> {
  const snapshot = connection.openAnother();
  try {
    let page: Document[] = [];
    for (const row of snapshot.iterate(LIST, tenant)) {
      page.push(DOCUMENT.read(row));
      if (page.length < CONFIG_PAGE) continue;
      yield page;
      page = [];
    }
    yield page;
  } catch (error) {
    throw asStoreError(error);
  } finally {
    snapshot.close();
  }
}

export const putDocument: CommandExecutor<'putDocument'> = (
  connection,
  { key, body, secret, precondition, configVersion, related, limit, event, now },
) => {
  if (configVersion !== undefined && currentVersion(connection, key) !== configVersion)
    return 'version_mismatch';
  const other = related ? connection.read(READS.findDocument(related)) : null;
  if (!isMetByTag(related?.precondition, other && documentTag(other))) return 'version_mismatch';
  const stored = connection.read(READS.findDocument({ key }));
  if (!isMetByTag(precondition, stored && documentTag(stored))) return 'version_mismatch';
  const isUnchanged = stored !== null && stored.body === body && secret === undefined;
  if (isUnchanged) return { created: false, document: stored };
  const exceeded = exceededLimit({ ...key, body }, stored, connection.read(documentTotal(key)), limit);
  if (exceeded !== null) return `${exceeded}_limit_reached`;
  const document = nextVersion(key, stored, { body, secret, now });
  connection.query(PUT_DOCUMENT, DOCUMENT.cells(document));
  connection.run(INCREMENT, TENANT.cells(key));
  record(connection, event, document.version, () => documentChanges(stored, document));
  return { created: stored === null, document };
};

export const deleteDocument: CommandExecutor<'deleteDocument'> = (
  connection,
  { key, precondition, event },
) => {
  const stored = connection.read(READS.findDocument({ key }));
  if (stored === null) return 'not_found';
  if (!isMetByTag(precondition, documentTag(stored))) return 'version_mismatch';
  connection.query(DELETE_DOCUMENT, DOCUMENT_KEY.cells(key));
  connection.run(INCREMENT, TENANT.cells(key));
  record(connection, event, null);
  return 'deleted';
};

export function changeConfig(
  connection: Connection,
  { tenant, version, changes }: Omit<Command<'changeConfig'>, 'kind'>,
): CommandResult<'changeConfig'> {
  if (currentVersion(connection, tenant) !== version) return 'version_mismatch';
  if (changes.length === 0) return version;
  for (const { before, after, event } of changes) {
    if (after === null) connection.query(DELETE_DOCUMENT, DOCUMENT_KEY.cells(before!));
    else connection.query(PUT_DOCUMENT, DOCUMENT.cells(after));
    record(connection, event, after?.version ?? null, () => documentChanges(before, after));
  }
  connection.run(INCREMENT, TENANT.cells(tenant));
  return version + 1;
}

function currentVersion(connection: Connection, tenant: Tenant): number {
  return connection.read(READS.findConfigVersion({ tenant }));
}

export const resealDocument: CommandExecutor<'resealDocument'> = (connection, { key, expected, secret }) => {
  const values = [secret.keyId, secret.ciphertext, expected.keyId, expected.ciphertext];
  const isResealed = connection.query(RESEAL_DOCUMENT, [...DOCUMENT_KEY.cells(key), ...values]).length === 1;
  if (isResealed) connection.run(INCREMENT, TENANT.cells(key));
  return isResealed;
};

export const copyDocuments: CommandExecutor<'copyDocuments'> = (connection, { documents }) => {
  for (const document of documents) {
    connection.query(COPY_DOCUMENT, DOCUMENT.cells(document));
    connection.run(INCREMENT, TENANT.cells(document));
  }
  return null;
};
