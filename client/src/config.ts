// The configuration of an environment as a whole.

import type { CallOptions } from './call.ts';
import type { DataSourceRequest, MappingPolicy, PropertySchema, SchemaRequest } from './catalogue.ts';
import type { IntegrationRequest } from './embed.ts';
import type { Schemas } from './schemas.ts';
import type { WebhookEndpointRequest } from './webhook.ts';

/** Entries by id. A section that is absent stays as it is. */
export interface Config {
  /** The version of the format. */
  version: 1;
  schemas?: Record<string, SchemaRequest>;
  data_sources?: Record<string, DataSourceRequest>;
  mapping_policy?: MappingPolicy;
  property_schema?: PropertySchema | null;
  integrations?: Record<string, IntegrationRequest>;
  webhook_endpoints?: Record<string, WebhookEndpointRequest>;
}

/** In place of its secret, an integration has the name of an environment variable, which `applyConfig` refuses. */
type WithoutSecret<Request> = Request extends IntegrationRequest
  ? Omit<Request, 'secret'> & { secret?: { environment: string } }
  : never;

export interface ReadConfig {
  config: Omit<Config, 'integrations'> & { integrations: Record<string, WithoutSecret<IntegrationRequest>> };
  config_version: number;
}

/** The changes, and the entries of the sent sections that were not sent, and stay. */
export type ConfigChanges = Omit<Schemas['ConfigChanges'], 'success'>;

export type ConfigChange = ConfigChanges['changes'][number];

/** The place of an entry. */
export type ConfigEntry = ConfigChanges['kept'][number];

export interface ApplyConfigOptions extends CallOptions {
  /** The `config_version` that the configuration must still have. Otherwise fails with `version_mismatch`. */
  configVersion?: number;
  /** Whether to delete the entries of the sent sections that are not sent. */
  prune?: boolean;
  /** Whether to return the changes without making them. */
  dryRun?: boolean;
}
