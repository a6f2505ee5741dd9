// Identifies the schemas that a thread keeps compiled. Tenants share the capacity: a new schema displaces one
// of the tenant that has the most, so a tenant that keeps changing its schema displaces its own.

import type { JsonText } from '../../../domain/json/strict-json.ts';
import type { ValidatorRequest } from './thread.ts';

const MAX_SCHEMAS = 100;

export class SchemaIds {
  /** Schema ids of each tenant by schema text, least recently used first. */
  readonly #byTenant = new Map<number, Map<string, number>>();
  #size = 0;
  #nextId = 0;

  /** Returns the parts of a request that identify the schema; the request must be sent. */
  use(tenant: number, schema: JsonText): Pick<ValidatorRequest, 'schemaId' | 'schema' | 'dropped'> {
    const ids = this.#byTenant.get(tenant) ?? new Map<string, number>();
    this.#byTenant.set(tenant, ids);
    const known = ids.get(schema);
    if (known !== undefined) {
      // Moves the schema to the end.
      ids.delete(schema);
      ids.set(schema, known);
      return { schemaId: known, schema: null, dropped: null };
    }
    const schemaId = this.#nextId++;
    ids.set(schema, schemaId);
    this.#size++;
    return { schemaId, schema, dropped: this.#size > MAX_SCHEMAS ? this.#dropOne() : null };
  }

  #dropOne(): number {
    const [tenant, ids] = [...this.#byTenant].reduce((most, next) =>
      next[1].size > most[1].size ? next : most,
    );
    const [schema, schemaId] = ids.entries().next().value!;
    ids.delete(schema);
    if (ids.size === 0) this.#byTenant.delete(tenant);
    this.#size--;
    return schemaId;
  }
}
