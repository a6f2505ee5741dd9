import type { Document } from '../../domain/document.ts';
import type { Tenant } from '../../domain/tenant.ts';
import { DOCUMENT, TENANT } from '../entities.ts';
import { CONFIG_PAGE } from '../port.ts';
import { READS } from '../reads.ts';
import { run, statement } from '../statement.ts';
import { type Steps, send } from '../steps.ts';
import type { QueryExecutor } from './executor.ts';

export const LIST = statement('list_documents')`
  select ${DOCUMENT.names} from documents where workspace_id = $1 and environment = $2
  order by kind, document_id`;

/** A no-op update locks the row of an environment that has one. */
export const LOCK = statement('lock_environment')`
  insert into environments (workspace_id, environment, config_version) values ($1, $2, 0)
  on conflict (workspace_id, environment) do update set config_version = environments.config_version`;

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

export function lockEnvironment(tenant: Tenant): Steps<void> {
  return send(run(LOCK, TENANT.cells(tenant)));
}
