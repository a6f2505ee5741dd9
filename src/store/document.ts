// Commands that change documents. Each locks the environment, so that its changes are serialized, and a change of
// documents increases the version of the configuration.

import { randomInt } from 'node:crypto';
import {
  type Document,
  documentChanges,
  documentTag,
  exceededLimit,
  nextVersion,
} from '../domain/document.ts';
import { isMetByTag } from '../domain/precondition.ts';
import { type Tenant, tenantName } from '../domain/tenant.ts';
import { DOCUMENT, DOCUMENT_KEY, TENANT } from './entities.ts';
import { documentTotal, READS } from './reads.ts';
import { type Call, exists, run, statement } from './statement.ts';
import { type CommandSteps, type Steps, send } from './steps.ts';

const INSERT = `insert into documents (${DOCUMENT.names}) values (${DOCUMENT.parameters})`;

const PUT = statement('put_document')`
  ${INSERT}
  on conflict (workspace_id, environment, kind, document_id) do update set version = excluded.version,
    body = excluded.body, secret_key_id = excluded.secret_key_id, secret_ciphertext = excluded.secret_ciphertext,
    updated_at = excluded.updated_at`;

const COPY = statement('copy_document')`
  ${INSERT} on conflict (workspace_id, environment, kind, document_id) do nothing`;

const HAS_KEY = 'workspace_id = $1 and environment = $2 and kind = $3 and document_id = $4';

const DELETE = statement('delete_document')`delete from documents where ${HAS_KEY}`;

const RESEAL = statement('reseal_document')`
  update documents set secret_key_id = $5, secret_ciphertext = $6
  where ${HAS_KEY} and secret_key_id = $7 and secret_ciphertext = $8
  returning document_id`;

const INCREMENT = statement('increment_config_version')`
  insert into environments (workspace_id, environment, config_version) values ($1, $2, $3)
  on conflict (workspace_id, environment)
  do update set config_version = environments.config_version + excluded.config_version`;

/**
 * Maximum step of the version of a configuration. Steps are random: after a failover that has lost a change, processes
 * still keep what they read under its version, which must not be issued again.
 */
const MAX_STEP = 2 ** 20;

export const putDocument: CommandSteps<'putDocument'> = function* (
  { key, body, secret, precondition, configVersion, related, limit, event, now },
  { lockEnvironment, recordings },
) {
  yield* lockEnvironment(key);
  if (configVersion !== undefined && (yield* currentVersion(key)) !== configVersion)
    return 'version_mismatch';
  const other = related ? yield* send(READS.findDocument(related)) : null;
  if (!isMetByTag(related?.precondition, other && documentTag(other))) return 'version_mismatch';
  const stored = yield* send(READS.findDocument({ key }));
  if (!isMetByTag(precondition, stored && documentTag(stored))) return 'version_mismatch';
  const isUnchanged = stored !== null && stored.body === body && secret === undefined;
  if (isUnchanged) return { created: false, document: stored };
  const exceeded = exceededLimit({ ...key, body }, stored, yield* send(documentTotal(key)), limit);
  if (exceeded !== null) return `${exceeded}_limit_reached`;
  const document = nextVersion(key, stored, { body, secret, now });
  yield* change(key, [put(document)]);
  recordings.push({ event, version: document.version, changes: documentChanges(stored, document) });
  return { created: stored === null, document };
};

export const deleteDocument: CommandSteps<'deleteDocument'> = function* (
  { key, precondition, event },
  { lockEnvironment, recordings },
) {
  yield* lockEnvironment(key);
  const stored = yield* send(READS.findDocument({ key }));
  if (stored === null) return 'not_found';
  if (!isMetByTag(precondition, documentTag(stored))) return 'version_mismatch';
  yield* change(key, [run(DELETE, DOCUMENT_KEY.cells(key))]);
  recordings.push({ event });
  return 'deleted';
};

export const changeConfig: CommandSteps<'changeConfig'> = function* (
  { tenant, version, changes },
  { lockEnvironment, recordings },
) {
  yield* lockEnvironment(tenant);
  if ((yield* currentVersion(tenant)) !== version) return 'version_mismatch';
  if (changes.length === 0) return version;
  const writes = changes.map(({ before, after }) =>
    after === null ? run(DELETE, DOCUMENT_KEY.cells(before!)) : put(after),
  );
  const step = yield* change(tenant, writes);
  for (const { before, after, event } of changes)
    recordings.push({ event, version: after?.version ?? null, changes: documentChanges(before, after) });
  return version + step;
};

export const resealDocument: CommandSteps<'resealDocument'> = function* (
  { key, expected, secret },
  { lockEnvironment },
) {
  yield* lockEnvironment(key);
  const values = [secret.keyId, secret.ciphertext, expected.keyId, expected.ciphertext];
  const isResealed = yield* send(exists(RESEAL, [...DOCUMENT_KEY.cells(key), ...values]));
  if (isResealed) yield* change(key, []);
  return isResealed;
};

export const copyDocuments: CommandSteps<'copyDocuments'> = function* ({ documents }, { lockEnvironment }) {
  for (const ofTenant of Map.groupBy(documents, tenantName).values()) {
    const tenant = ofTenant[0]!;
    yield* lockEnvironment(tenant);
    yield* change(
      tenant,
      ofTenant.map((document) => run(COPY, DOCUMENT.cells(document))),
    );
  }
};

function put(document: Document): Call<void> {
  return run(PUT, DOCUMENT.cells(document));
}

function currentVersion(tenant: Tenant): Steps<number> {
  return send(READS.findConfigVersion({ tenant }));
}

/** Returns the step to the next version of the configuration. */
function* change(tenant: Tenant, changes: readonly Call<void>[]): Steps<number> {
  const step = randomInt(1, MAX_STEP);
  yield [...changes, run(INCREMENT, [...TENANT.cells(tenant), step])];
  return step;
}
