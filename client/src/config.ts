// The configuration of an environment as a whole.

import type { CallOptions } from './call.ts';
import type { DataSourceRequest, MappingPolicy, PropertySchema, SchemaRequest } from './catalogue.ts';
import type { IntegrationRequest } from './embed.ts';
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

export interface ReadConfig {
  /** An integration with a secret has the name of an environment variable in its place. */
  config: Config & { integrations: Record<string, { secret?: { environment: string } }> };
  config_version: number;
}

/** The place of an entry. */
export interface ConfigEntry {
  section: string;
  /** `default` in a section that has one entry. */
  id: string;
}

export interface ConfigChange extends ConfigEntry {
  action: 'create' | 'update' | 'delete';
  before: object | null;
  after: object | null;
  replaces_secret: boolean;
}

export interface ConfigChanges {
  changes: ConfigChange[];
  /** Entries of the sent sections that were not sent, and stay. */
  kept: ConfigEntry[];
  config_version: number;
}

export interface ApplyConfigOptions extends CallOptions {
  /** The `config_version` that the configuration must still have. Otherwise fails with `version_mismatch`. */
  configVersion?: number;
  /** Whether to delete the entries of the sent sections that are not sent. */
  prune?: boolean;
  /** Whether to return the changes without making them. */
  dryRun?: boolean;
}
