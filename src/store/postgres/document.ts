// Documents. Every command locks the row of the environment, so changes of one environment are serialized. A
// change of documents increments the version of the configuration.

import { randomInt } from 'node:crypto';
import {
  type Document,
  documentChanges,
  documentTag,
  exceededLimit,
  nextVersion,
} from '../../domain/document.ts';
import { isMetByTag } from '../../domain/precondition.ts';
import { type Tenant, tenantName } from '../../domain/tenant.ts';
import { DOCUMENT, DOCUMENT_KEY, TENANT } from '../entities.ts';
import { CONFIG_PAGE, type Command, type CommandResult } from '../port.ts';
import { documentTotal, READS } from '../reads.ts';
import { type Statement, statement } from '../statement.ts';
import { COPY_DOCUMENT, DELETE_DOCUMENT, PUT_DOCUMENT, RESEAL_DOCUMENT } from '../writes.ts';
import type { Session } from './client/session.ts';
import type { CommandExecutor, QueryExecutor, Transaction } from './executor.ts';

export const LIST = statement('list_documents')`
  select ${DOCUMENT.names} from documents where workspace_id = $1 and environment = $2
  order by kind, document_id`;

/** A no-op update locks the row of an environment that has one. */
export const LOCK = statement('lock_environment')`
  insert into environments (workspace_id, environment, config_version) values ($1, $2, 0)
  on conflict (workspace_id, environment) do update set config_version = environments.config_version`;

export const INCREMENT = statement('increment_config_version')`
  update environments set config_version = config_version + $3 where workspace_id = $1 and environment = $2`;

/**
 * Maximum step of the version of a configuration. Steps are random: after a failover that has lost a change, processes
 * still keep what they read under its version, which must not be issued again.
 */
const MAX_STEP = 2 ** 20;

/** The version is read first: documents that change in between are newer than it, and are read again. */
export const findConfig: QueryExecutor<'findConfig'> = async (session, { tenant }) => {
  const version = await session.read(READS.findConfigVersion({ tenant }));
  if (version === 0) return { version, pages: [] };
  return { version, pages: readPages(await session.query(LIST, TENANT.cells(tenant))) };
};

function* readPages(rows: readonly (readonly unknown[])[]): Iterable<Document[]> {
  for (let start = 0; start < rows.length; start += CONFIG_PAGE)
    yield DOCUMENT.readAll(rows.slice(start, start + CONFIG_PAGE));
}

/** Runs in a transaction. */
export const putDocument: CommandExecutor<'putDocument'> = async (
  session,
  { key, body, secret, precondition, configVersion, related, limit, event, now },
  { recordings },
) => {
  await lockEnvironment(session, key);
  if (configVersion !== undefined && (await currentVersion(session, key)) !== configVersion)
    return 'version_mismatch';
  const other = related ? await session.read(READS.findDocument(related)) : null;
  if (!isMetByTag(related?.precondition, other && documentTag(other))) return 'version_mismatch';
  const stored = await session.read(READS.findDocument({ key }));
  if (!isMetByTag(precondition, stored && documentTag(stored))) return 'version_mismatch';
  const isUnchanged = stored !== null && stored.body === body && secret === undefined;
  if (isUnchanged) return { created: false, document: stored };
  const exceeded = exceededLimit({ ...key, body }, stored, await session.read(documentTotal(key)), limit);
  if (exceeded !== null) return `${exceeded}_limit_reached`;
  const document = nextVersion(key, stored, { body, secret, now });
  await change(session, key, [[PUT_DOCUMENT, DOCUMENT.cells(document)]]);
  recordings.push({ event, version: document.version, changes: documentChanges(stored, document) });
  return { created: stored === null, document };
};

/** Runs in a transaction. */
export const deleteDocument: CommandExecutor<'deleteDocument'> = async (
  session,
  { key, precondition, event },
  { recordings },
) => {
  await lockEnvironment(session, key);
  const stored = await session.read(READS.findDocument({ key }));
  if (stored === null) return 'not_found';
  if (!isMetByTag(precondition, documentTag(stored))) return 'version_mismatch';
  await change(session, key, [[DELETE_DOCUMENT, DOCUMENT_KEY.cells(key)]]);
  recordings.push({ event });
  return 'deleted';
};

/** Runs in a transaction. */
export async function changeConfig(
  session: Session,
  { tenant, version, changes }: Omit<Command<'changeConfig'>, 'kind'>,
  { recordings }: Transaction,
): Promise<CommandResult<'changeConfig'>> {
  await lockEnvironment(session, tenant);
  if ((await currentVersion(session, tenant)) !== version) return 'version_mismatch';
  if (changes.length === 0) return version;
  const step = await change(
    session,
    tenant,
    changes.map(({ before, after }) =>
      after === null ? [DELETE_DOCUMENT, DOCUMENT_KEY.cells(before!)] : [PUT_DOCUMENT, DOCUMENT.cells(after)],
    ),
  );
  for (const { before, after, event } of changes)
    recordings.push({ event, version: after?.version ?? null, changes: documentChanges(before, after) });
  return version + step;
}

/** Runs in a transaction. */
export const resealDocument: CommandExecutor<'resealDocument'> = async (
  session,
  { key, expected, secret },
) => {
  await lockEnvironment(session, key);
  const values = [secret.keyId, secret.ciphertext, expected.keyId, expected.ciphertext];
  const isResealed =
    (await session.query(RESEAL_DOCUMENT, [...DOCUMENT_KEY.cells(key), ...values])).length === 1;
  if (isResealed) await change(session, key, []);
  return isResealed;
};

/** Runs in a transaction. */
export const copyDocuments: CommandExecutor<'copyDocuments'> = async (session, { documents }) => {
  for (const ofTenant of Map.groupBy(documents, tenantName).values()) {
    const tenant = ofTenant[0]!;
    await lockEnvironment(session, tenant);
    await change(
      session,
      tenant,
      ofTenant.map((document) => [COPY_DOCUMENT, DOCUMENT.cells(document)]),
    );
  }
  return null;
};

export async function lockEnvironment(session: Session, tenant: Tenant): Promise<void> {
  await session.query(LOCK, TENANT.cells(tenant));
}

function currentVersion(session: Session, tenant: Tenant): Promise<number> {
  return session.read(READS.findConfigVersion({ tenant }));
}

/** The environment must be locked. Returns the step to the next version of its configuration. */
async function change(
  session: Session,
  tenant: Tenant,
  changes: readonly (readonly [statement: Statement, values: readonly unknown[]])[],
): Promise<number> {
  const step = randomInt(1, MAX_STEP);
  const all = [...changes, [INCREMENT, [...TENANT.cells(tenant), step]] as const];
  await session.pipelined(() => all.map((each) => session.query(...each)));
  return step;
}
