import type { Document } from '../../domain/document.ts';
import { DOCUMENT, TENANT } from '../entities.ts';
import { CONFIG_PAGE } from '../port.ts';
import { READS } from '../reads.ts';
import type { Cell } from '../row-shape.ts';
import type { QueryExecutor } from './executor.ts';
import { Connection } from './file/connection.ts';
import { asStoreError } from './file/file-error.ts';

const LIST = `select ${DOCUMENT.names} from documents where workspace_id = ? and environment = ?
  order by kind, document_id`;
const HAS_SECOND_PAGE = `select 1 from documents where workspace_id = ? and environment = ? limit 1 offset ${CONFIG_PAGE}`;

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
  const snapshot = new Connection(connection.file);
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
