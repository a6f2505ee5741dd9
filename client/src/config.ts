// Types of the configuration of an environment as a whole.

import type { CallOptions } from './call.ts';
import type { DataSourceRequest, MappingPolicy, PropertySchema, SchemaRequest } from './catalogue.ts';
import type { IntegrationRequest } from './embed.ts';
import type { Schemas } from './schemas.ts';
import type { WebhookEndpointRequest } from './webhook.ts';

/** Entries by id. Absent sections stay unchanged. */
export interface Config {
  /** Version of the format. */
  version: 1;
  schemas?: Record<string, SchemaRequest>;
  data_sources?: Record<string, DataSourceRequest>;
  mapping_policy?: MappingPolicy;
  property_schema?: PropertySchema | null;
  integrations?: Record<string, IntegrationRequest>;
  webhook_endpoints?: Record<string, WebhookEndpointRequest>;
}

/**
 * Replaces the secret of an integration by the name of an environment variable, which `applyConfig` refuses.
 */
type WithoutSecret<Request> = Request extends IntegrationRequest
  ? Omit<Request, 'secret'> & { secret?: { environment: string } }
  : never;

export interface ReadConfig {
  config: Omit<Config, 'integrations'> & { integrations: Record<string, WithoutSecret<IntegrationRequest>> };
  config_version: number;
}

/** Changes, and entries of the sent sections that were not sent and that stay. */
export type ConfigChanges = Omit<Schemas['ConfigChanges'], 'success'>;

export type ConfigChange = ConfigChanges['changes'][number];

/** Place of an entry. */
export type ConfigEntry = ConfigChanges['kept'][number];

export interface ApplyConfigOptions extends CallOptions {
  /**
   * Expected `config_version` of the stored configuration. If it differs, the call fails with
   * `version_mismatch`.
   */
  configVersion?: number;
  /** Whether to delete the entries of the sent sections that are not sent. */
  prune?: boolean;
  /** Whether to return the changes without making them. */
  dryRun?: boolean;
}
