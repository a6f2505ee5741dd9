// Types of the catalogue as transmitted: schemas, data sources, and the rules for mappings and properties.

import type { Schemas } from './schemas.ts';

export type SchemaRequest = Schemas['CatalogueSchema'];

export type Schema = Schemas['SchemaDocument'];

/** Number of a data source, or your own id of it, as in a mapping. */
export type DataSourceReference = NonNullable<Schema['default_data_source']>;

export type DataSourceRequest = Schemas['DataSource'];

export type DataSource = Schemas['DataSourceDocument'];

/** Settings that a dashboard server needs to connect: host, database, the name of a secret. Never a credential. */
export type Attributes = DataSource['attributes'];

/** A data source as `resolve` returns it. */
export type ResolvedDataSource = Schemas['ResolvedDataSource'];

/** A schema whose mapping or default leads to no data source of its own. Show an error for it, never other data. */
export type UnresolvedReference = Schemas['UnresolvedSchema'];

/** Consequence for a change that violates the rule: nothing, a report in `violations`, or an error. */
export type PolicyMode = MappingPolicy['mode'];

export type MappingPolicy = Schemas['MappingPolicy'];

export type PropertySchema = Schemas['PropertySchema'];
