// Integrations, embed tokens and signing keys on the wire.

import type { IntegrationSettings } from './integration-settings.ts';
import type { JsonValue } from './wire.ts';

export type { IntegrationSettings } from './integration-settings.ts';

export type IntegrationType = keyof IntegrationSettings;

/** Where a value of a token comes from: the user group, or the same for all. */
export type Template =
  | { property: string }
  | { mapping: string }
  | { field: 'provided_id' | 'name' | 'team_id' | 'environment' }
  | { constant: JsonValue };

interface IntegrationFields<Type extends IntegrationType> {
  type: Type;
  settings: IntegrationSettings[Type];
  /** 60 to 3600. Default: 300. */
  ttl_seconds?: number | undefined;
  claims?: { readonly [name: string]: Template } | undefined;
  /** Must be true if no value of a token depends on the user group. */
  unrestricted?: boolean | undefined;
  /** The secret that the tool verifies tokens with; without it, an existing integration keeps its own. */
  secret?: string | undefined;
}

/** The settings must be those of the type. */
export type IntegrationRequest = {
  [Type in IntegrationType]: IntegrationFields<Type>;
}[IntegrationType];

export interface Integration {
  integration_id: string;
  type: IntegrationType;
  ttl_seconds: number;
  settings: { readonly [name: string]: JsonValue | undefined };
  claims: { readonly [name: string]: Template };
  unrestricted: boolean;
  version: number;
  created_at: string;
  updated_at: string;
}

export type EmbedTokenRequest = {
  /** The id of the integration. */
  integration: string;
  /** Your own id of the person who views. */
  viewer?: string | undefined;
  /** One of `settings.resources` of the integration. May be absent if that has only one. */
  resource?: { readonly [name: string]: string | number } | undefined;
  /** Values in place of properties, for a viewer who may see less: parts of stored lists, or values as they are stored. */
  narrow?: { readonly [property: string]: JsonValue | undefined } | undefined;
} & ({ token: string; user_group_id?: undefined } | { user_group_id: string; token?: undefined });

export interface EmbedToken {
  /** A signed JWT. A credential until `expires_at`. */
  token: string;
  type: IntegrationType;
  /** RFC 3339, UTC. */
  expires_at: string;
  /** Where a browser opens the token; only for Metabase. */
  url?: string;
}

export interface SigningKeys {
  /** null until the first integration that needs keys. */
  issuer: string | null;
  jwks_url: string | null;
  signing_keys: {
    kid: string;
    algorithm: 'ES256' | 'RS256';
    status: 'pending' | 'signing' | 'retiring';
    signs_from: string;
    published_until: string | null;
    /** PEM. */
    public_key: string;
  }[];
}
