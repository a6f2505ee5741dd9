// Integrations, embed tokens and signing keys on the wire.

import type { IntegrationSettings } from './integration-settings.ts';
import type { Schemas } from './schemas.ts';
import type { JsonValue } from './wire.ts';

export type { IntegrationSettings } from './integration-settings.ts';

export type IntegrationType = keyof IntegrationSettings;

/** Where a value of a token comes from: the user group, or the same for all. */
export type Template = Integration['claims'][string];

type Fields<Type extends IntegrationType> = Omit<Schemas['Integration'], 'type' | 'settings'> & {
  type: Type;
  settings: IntegrationSettings[Type];
};

/** The settings must be those of the type. */
export type IntegrationRequest = {
  [Type in IntegrationType]: Fields<Type>;
}[IntegrationType];

export type Integration = Schemas['StoredIntegration']['integration'];

export type EmbedTokenRequest = {
  /** The id of the integration. */
  integration: string;
  /** Your own id of the person who views. */
  viewer?: string | undefined;
  /** One of `settings.resources` of the integration. May be absent if that has only one. */
  resource?: { readonly [name: string]: string | number } | undefined;
  /** Values in place of properties, for a viewer who may see less: parts of stored lists, or values as they are stored. */
  narrow?: { readonly [property: string]: JsonValue | undefined } | undefined;
} & (
  | {
      /** From the viewer: one that is absent fails like an unknown one. */
      token: string | null | undefined;
      user_group_id?: undefined;
    }
  | { user_group_id: string; token?: undefined }
);

/** `token` is a signed JWT, a credential until `expires_at`; a browser opens it at `url`, which only Metabase has. */
export type EmbedToken = Schemas['EmbedToken']['embed_token'];

/** `issuer` is null until the first integration that needs keys. */
export type SigningKeys = Omit<Schemas['SigningKeys'], 'success'>;
