// The catalogue: the schemas and data sources that mappings refer to. Built from the documents of one
// environment.
//
// In a mapping, a number is the id of a data source; a string is the caller's own id of one or, if none has
// it and it is all digits, the id. A dangling reference is reported and never replaced by a default: a viewer
// must see an error, not the data of another customer. For the same reason, a reserved data source resolves
// only for its user group.

import type { Document, DocumentDefinition } from '../document.ts';
import { decodeString, NULL, parseJson, splitMembers } from '../json/json-tree.ts';
import type { JsonText } from '../json/strict-json.ts';
import type { UserGroup } from '../user-group/user-group.ts';
import type { SchemaBody } from './catalogue-body.ts';

export const schemaDefinition = {
  kind: 'schema',
  noun: 'schema',
  limit: { documents: 1_000, bytes: 1024 * 1024 },
} as const satisfies DocumentDefinition;

export const dataSourceDefinition = {
  kind: 'data_source',
  noun: 'data source',
  limit: { documents: 10_000, bytes: 4 * 1024 * 1024 },
} as const satisfies DocumentDefinition;

export type CatalogueDocument = Pick<Document, 'kind' | 'id' | 'body'>;

/** Id or number by which a mapping refers to a data source. */
export type Reference = string | number;

export interface DataSource {
  dataSourceId: number;
  providedId: string;
  schemaId: string;
  name: string;
  /** JSON that callers see in a resolved mapping. */
  json: JsonText;
  /** The same as a member of an object, whose key is the schema id. */
  member: string;
  /** The only user group that may use it; null if all may. */
  reservedFor: string | null;
}

/** Reasons why a reference does not resolve: no data source, or one of another schema or group. */
export const unresolvedReasons = ['missing', 'other_schema', 'reserved'] as const;
export type UnresolvedReason = (typeof unresolvedReasons)[number];

export interface Unresolved {
  schemaId: string;
  reference: Reference;
  reason: UnresolvedReason;
}

/** The part of a user group that determines its data sources. */
type Mapped = Pick<UserGroup, 'providedId' | 'mapping'>;

/** The data source of each schema of a group. */
export interface EffectiveMapping {
  dataSources: ReadonlyMap<string, DataSource>;
  unresolved: readonly Unresolved[];
  /** Whether every schema of the catalogue and of the mapping leads to a data source. */
  isComplete: boolean;
  /** The user groups that its data sources are reserved for. */
  owners: readonly string[];
  /** Size of the JSON of the data sources and of the unresolved references. */
  bytes: number;
}

/** Maximum size of the data sources in one resolution. */
export const MAX_RESOLVED_BYTES = 256 * 1024;

/** A broken rule of one entry of a mapping. */
interface MappingViolation {
  schemaId: string;
  detail: string;
}

/** Maximum number of mappings in memory, per environment: as many as it may have data sources. */
const MAX_KEPT_MAPPINGS = dataSourceDefinition.limit.documents;
const MAX_KEPT_CHARACTERS = 256;
/** Maximum entries of all mappings in memory, about 100 bytes each: a mapping has one for each default. */
const MAX_KEPT_ENTRIES = 10 * MAX_KEPT_MAPPINGS;

const NUMBER = /^(?:0|[1-9]\d{0,15})$/;

/** Built after every change of any document, so it parses only the data sources that requests need. */
export class Catalogue {
  readonly #schemaIds = new Set<string>();
  readonly #defaults: [schemaId: string, reference: Reference][] = [];
  readonly #withoutDefault: string[] = [];
  readonly #byProvidedId = new Map<string, CatalogueDocument>();
  #byId: ReadonlyMap<number, CatalogueDocument> | undefined;
  readonly #parsed = new Map<CatalogueDocument, DataSource>();
  /** Results by mapping, as if nothing were reserved. Nothing else matters: a catalogue never changes. */
  readonly #effective = new Map<JsonText | null, EffectiveMapping>();
  #keptEntries = 0;
  #bySchema: ReadonlyMap<string, readonly DataSource[]> | undefined;

  constructor(documents: Iterable<CatalogueDocument>) {
    for (const document of documents) {
      if (document.kind === 'schema') this.#addSchema(document);
      if (document.kind === 'data_source') this.#byProvidedId.set(document.id, document);
    }
  }

  /** Whether the environment has no catalogue: its mappings refer to data sources kept elsewhere. */
  get isEmpty(): boolean {
    return this.#schemaIds.size === 0 && this.#byProvidedId.size === 0;
  }

  find(reference: Reference): DataSource | undefined {
    const document = this.#findDocument(reference);
    return document && this.#parseDataSource(document);
  }

  /** Whether a schema names the data source as its default. */
  hasDefault(providedId: string, dataSourceId: number): boolean {
    const references: Reference[] = [providedId, dataSourceId, String(dataSourceId)];
    return this.#defaults.some(([, reference]) => references.includes(reference));
  }

  /** The data sources of the schema, in the order of the caller's ids. */
  ofSchema(schemaId: string): readonly DataSource[] {
    this.#bySchema ??= Map.groupBy(
      [...this.#byProvidedId.values()].map((document) => this.#parseDataSource(document)),
      (dataSource) => dataSource.schemaId,
    );
    return this.#bySchema.get(schemaId) ?? [];
  }

  /** null if the schema has no default. */
  defaultOf(schemaId: string): Reference | null {
    return this.#defaults.find(([id]) => id === schemaId)?.[1] ?? null;
  }

  /**
   * Returns how mappings refer to the data source with this id or number, and the schemas whose default it
   * is. Mappings refer to one that does not exist by the text itself, as a string or a number.
   */
  referencesTo(idOrNumber: string): { references: ReadonlySet<Reference>; schemaIds: readonly string[] } {
    const document = this.#findDocument(idOrNumber);
    const number = document === undefined ? Number(idOrNumber) : readDataSourceId(document);
    const texts = document === undefined ? [idOrNumber] : [document.id, String(number)];
    // A text of digits may be the id of another data source.
    const references = new Set<Reference>(texts.filter((text) => this.#findDocument(text) === document));
    if (document !== undefined || String(number) === idOrNumber) references.add(number);
    const defaults = this.#defaults.filter(([, reference]) => references.has(reference));
    return { references, schemaIds: defaults.map(([schemaId]) => schemaId) };
  }

  /** Returns the numbers of the data sources that a mapping uses, also as defaults of unmapped schemas. */
  dataSourcesUsedBy(mapping: JsonText | null): Set<number> {
    const used = new Set<number>();
    this.#forEachReference(mapping, (_, reference) => {
      const document = this.#findDocument(reference);
      if (document !== undefined) used.add(readDataSourceId(document));
    });
    return used;
  }

  /** Calls `use` with each entry of the mapping, and with the default of each schema that it does not map. */
  #forEachReference(mapping: JsonText | null, use: (schemaId: string, reference: Reference) => void): void {
    const mapped = parseMapping(mapping);
    for (const schemaId of Object.keys(mapped)) use(schemaId, mapped[schemaId]!);
    for (const [schemaId, reference] of this.#defaults)
      if (!Object.hasOwn(mapped, schemaId)) use(schemaId, reference);
  }

  /** Number of schemas with a default: each may be one more data source of a user group. */
  get defaultCount(): number {
    return this.#defaults.length;
  }

  effective({ providedId, mapping }: Mapped): EffectiveMapping {
    const unreserved = this.#unreserved(mapping);
    const isForGroup = unreserved.owners.every((owner) => owner === providedId);
    return isForGroup ? unreserved : this.#resolve(mapping, providedId);
  }

  /** Returns the schemas of the catalogue that have neither an entry in the mapping nor a default. */
  unmapped({ dataSources, unresolved }: EffectiveMapping): string[] {
    const reported = new Set(unresolved.map(({ schemaId }) => schemaId));
    return this.#withoutDefault.filter((id) => !dataSources.has(id) && !reported.has(id));
  }

  /** Size of the data sources of a user group without a mapping, as `EffectiveMapping.bytes`. */
  get defaultBytes(): number {
    return this.#unreserved(null).bytes;
  }

  #unreserved(mapping: JsonText | null): EffectiveMapping {
    const known = this.#effective.get(mapping);
    if (known !== undefined) return known;
    const effective = this.#resolve(mapping, null);
    if (mapping === null || mapping.length <= MAX_KEPT_CHARACTERS) {
      this.#keep(mapping, effective);
    }
    return effective;
  }

  #keep(mapping: JsonText | null, effective: EffectiveMapping): void {
    const entries = effective.dataSources.size + effective.unresolved.length;
    if (this.#effective.size === MAX_KEPT_MAPPINGS || this.#keptEntries + entries > MAX_KEPT_ENTRIES) {
      this.#effective.clear();
      this.#keptEntries = 0;
    }
    this.#keptEntries += entries;
    this.#effective.set(mapping, effective);
  }

  /** Resolves a mapping for the user group with the id; null: as if nothing were reserved. */
  #resolve(mapping: JsonText | null, userGroupId: string | null): EffectiveMapping {
    const dataSources = new Map<string, DataSource>();
    const unresolved: Unresolved[] = [];
    const owners = new Set<string>();
    let bytes = 0;
    this.#forEachReference(mapping, (schemaId, reference) => {
      const found = this.lookUp(schemaId, reference, userGroupId);
      if (typeof found === 'object') {
        dataSources.set(schemaId, found);
        if (found.reservedFor !== null) owners.add(found.reservedFor);
        bytes += Buffer.byteLength(found.member);
      } else {
        unresolved.push({ schemaId, reference, reason: found });
        bytes += Buffer.byteLength(schemaId) + Buffer.byteLength(String(reference));
      }
    });
    const isComplete = unresolved.length === 0 && this.#withoutDefault.every((id) => dataSources.has(id));
    return { dataSources, unresolved, isComplete, owners: [...owners], bytes };
  }

  /** Resolves one entry of a mapping; `userGroupId` null: as if nothing were reserved. */
  lookUp(schemaId: string, reference: Reference, userGroupId: string | null): DataSource | UnresolvedReason {
    const dataSource = this.find(reference);
    if (dataSource === undefined) return 'missing';
    if (dataSource.schemaId !== schemaId) return 'other_schema';
    if (userGroupId === null || dataSource.reservedFor === null) return dataSource;
    return dataSource.reservedFor === userGroupId ? dataSource : 'reserved';
  }

  /**
   * Violations of the entries of a mapping, and of schemas without an entry whose default is reserved for
   * another group. A default that is dangling for every group does not count: the mapping does not cause it.
   */
  violations({ providedId, mapping }: Mapped): MappingViolation[] {
    const mapped = parseMapping(mapping);
    const ofEntries = Object.entries(mapped).flatMap(([schemaId, reference]) => {
      if (!this.#schemaIds.has(schemaId)) return { schemaId, detail: 'is not a schema of this environment' };
      const found = this.lookUp(schemaId, reference, providedId);
      return typeof found === 'object' ? [] : { schemaId, detail: violationDetails[found] };
    });
    const ofDefaults = this.#defaults
      .filter(([schemaId]) => !Object.hasOwn(mapped, schemaId))
      .filter(([schemaId, reference]) => this.lookUp(schemaId, reference, providedId) === 'reserved')
      .map(([schemaId]) => ({ schemaId, detail: RESERVED_DEFAULT }));
    return [...ofEntries, ...ofDefaults];
  }

  /** Returns the entries of a mapping whose data source, of any schema, is reserved for another group. */
  reservedEntries({ providedId, mapping }: Mapped): MappingViolation[] {
    return Object.entries(parseMapping(mapping)).flatMap(([schemaId, reference]) => {
      const reservedFor = this.find(reference)?.reservedFor ?? null;
      return reservedFor === null || reservedFor === providedId
        ? []
        : { schemaId, detail: violationDetails.reserved };
    });
  }

  #addSchema(document: CatalogueDocument): void {
    this.#schemaIds.add(document.id);
    const { default_data_source: reference } = storedSchema(document);
    if (reference === null) this.#withoutDefault.push(document.id);
    else this.#defaults.push([document.id, reference]);
  }

  #parseDataSource(document: CatalogueDocument): DataSource {
    const dataSource = this.#parsed.get(document) ?? parseDataSource(document);
    this.#parsed.set(document, dataSource);
    return dataSource;
  }

  #findDocument(reference: Reference): CatalogueDocument | undefined {
    if (typeof reference === 'number') return this.#findById(reference);
    const named = this.#byProvidedId.get(reference);
    return named ?? (NUMBER.test(reference) ? this.#findById(Number(reference)) : undefined);
  }

  #findById(id: number): CatalogueDocument | undefined {
    this.#byId ??= new Map(
      Array.from(this.#byProvidedId.values(), (document) => [readDataSourceId(document), document]),
    );
    return this.#byId.get(id);
  }
}

const violationDetails: Record<UnresolvedReason, string> = {
  missing: 'refers to a data source that does not exist',
  other_schema: 'refers to a data source of another schema',
  reserved: 'refers to a data source that is reserved for another user group',
};
const RESERVED_DEFAULT =
  'is absent, and the default data source of the schema is reserved for another user group';

/** The references of a mapping by schema; none if it is null. */
export function parseMapping(mapping: JsonText | null): Record<string, Reference> {
  return mapping === null ? {} : parseJson(mapping);
}

export function storedSchema({ body }: Pick<Document, 'body'>): Required<SchemaBody> {
  return JSON.parse(body);
}

const DATA_SOURCE_ID = /^\{"data_source_id":(\d+),/;

/** The numbers of data sources are stored with them, as the first member. */
export function readDataSourceId({ body }: Pick<Document, 'body'>): number {
  return Number(DATA_SOURCE_ID.exec(body)![1]);
}

/** Values are not parsed: a form shows thousands of data sources, with up to 16 KiB of attributes each. */
export function parseDataSource({ id, body }: CatalogueDocument): DataSource {
  const members = splitMembers(body);
  const text = (name: string) => members.get(`"${name}"`)!;
  const json =
    `{"data_source_id":${text('data_source_id')},"provided_id":${JSON.stringify(id)},` +
    `"name":${text('name')},"attributes":${text('attributes')}}`;
  const schemaId = text('schema_id');
  return {
    dataSourceId: Number(text('data_source_id')),
    providedId: id,
    schemaId: decodeString(schemaId),
    name: decodeString(text('name')),
    json: json as JsonText,
    member: `${schemaId}:${json}`,
    reservedFor: JSON.parse(members.get('"user_group_id"') ?? NULL) as string | null,
  };
}
