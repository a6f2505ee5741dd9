// Every table that the migrations create, with what each needs beyond its statements. test/store/schema.test.ts compares
// them with the schema.

interface TableFacts {
  /** Whether its rows are data, not machinery: a copy of the database has all of them. */
  isCopied: boolean;
  /**
   * What its rows are for a workspace. A workspace with customers is not deleted, its history is deleted first, and the
   * rest together with it. null: its rows belong to no workspace.
   */
  ofWorkspace: 'customers' | 'history' | 'configuration' | null;
  /** Column by which Citus distributes it; null: a reference table. */
  distributedBy: 'bucket' | 'token_digest' | null;
}

/** In the order in which the rows of a deleted workspace are deleted. */
export const TABLES = {
  api_tokens: { isCopied: true, ofWorkspace: 'configuration', distributedBy: null },
  documents: { isCopied: true, ofWorkspace: 'configuration', distributedBy: null },
  environments: { isCopied: false, ofWorkspace: 'configuration', distributedBy: null },
  environment_figures: { isCopied: false, ofWorkspace: 'configuration', distributedBy: null },
  events: { isCopied: true, ofWorkspace: 'history', distributedBy: 'bucket' },
  deliveries: { isCopied: true, ofWorkspace: 'history', distributedBy: 'bucket' },
  usage_counts: { isCopied: true, ofWorkspace: 'history', distributedBy: 'bucket' },
  failing_webhook_endpoints: { isCopied: true, ofWorkspace: 'configuration', distributedBy: null },
  user_group_renames: { isCopied: true, ofWorkspace: 'configuration', distributedBy: 'bucket' },
  user_groups: { isCopied: true, ofWorkspace: 'customers', distributedBy: 'bucket' },
  workspaces: { isCopied: true, ofWorkspace: 'configuration', distributedBy: null },
  imported_tokens: { isCopied: false, ofWorkspace: null, distributedBy: 'token_digest' },
  token_keys: { isCopied: false, ofWorkspace: null, distributedBy: null },
  id_blocks: { isCopied: false, ofWorkspace: null, distributedBy: null },
  id_leases: { isCopied: false, ofWorkspace: null, distributedBy: null },
  event_positions: { isCopied: false, ofWorkspace: null, distributedBy: null },
} as const satisfies Record<string, TableFacts>;

export type Table = keyof typeof TABLES;
export type CopiedTable = {
  [Name in Table]: (typeof TABLES)[Name]['isCopied'] extends true ? Name : never;
}[Table];

export function tablesOf(...parts: readonly TableFacts['ofWorkspace'][]): Table[] {
  return (Object.keys(TABLES) as Table[]).filter((table) => parts.includes(TABLES[table].ofWorkspace));
}
