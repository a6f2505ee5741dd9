// The catalogue on the wire: schemas, data sources, and the rules for mappings and properties.

import type { JsonValue } from './wire.ts';

/** As in a mapping: the number of a data source, or your own id of it. */
export type DataSourceReference = string | number;

export interface SchemaRequest {
  name: string;
  /** The data source of user groups whose mapping has no entry for this schema. Default: none. */
  default_data_source?: DataSourceReference | null | undefined;
}

export interface Schema {
  schema_id: string;
  name: string;
  default_data_source: DataSourceReference | null;
  version: number;
  created_at: string;
  updated_at: string;
}

/** Settings that a dashboard server needs to connect: host, database, the name of a secret. Never a credential. */
export type Attributes = { readonly [name: string]: JsonValue | undefined };

export interface DataSourceRequest {
  schema_id: string;
  name: string;
  /** Default: none. */
  attributes?: Attributes | undefined;
  /** The only user group that it is for: the mapping of any other one to it is unresolved. Default: any user group. */
  user_group_id?: string | null | undefined;
}

/** A data source as `resolve` returns it. */
export interface ResolvedDataSource {
  /** Number that the service assigned to the data source. */
  data_source_id: number;
  /** Your own id. */
  provided_id: string;
  name: string;
  attributes: Attributes;
}

export interface DataSource extends ResolvedDataSource {
  schema_id: string;
  /** The only user group that it is for; null for any. */
  user_group_id: string | null;
  version: number;
  created_at: string;
  updated_at: string;
}

/** A schema whose mapping or default leads to no data source of its own. Show an error for it, never other data. */
export interface UnresolvedReference {
  schema_id: string;
  data_source: DataSourceReference;
  /** No data source has this id, it is one of another schema, or it is reserved for another user group. */
  reason: 'missing' | 'other_schema' | 'reserved';
}

/** Consequence for a change that violates the rule: nothing, a report in `violations`, or an error. */
export type PolicyMode = 'off' | 'report' | 'enforce';

export interface MappingPolicy {
  mode: PolicyMode;
}

export interface PropertySchema {
  /** A JSON Schema 2020-12 of at most 64 KiB. */
  schema: boolean | { readonly [keyword: string]: JsonValue | undefined };
  mode: PolicyMode;
}
