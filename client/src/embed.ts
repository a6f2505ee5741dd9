// Types of integrations, embed tokens and signing keys as transmitted.

import type { IntegrationSettings } from './integration-settings.ts';
import type { Schemas } from './schemas.ts';
import type { JsonValue } from './wire.ts';

export type { IntegrationSettings } from './integration-settings.ts';

export type IntegrationType = keyof IntegrationSettings;

/** Source of a value of a token: the user group, or the same value for all. */
export type Template = Integration['claims'][string];

type Fields<Type extends IntegrationType> = Omit<Schemas['Integration'], 'type' | 'settings'> & {
  type: Type;
  settings: IntegrationSettings[Type];
};

/** Integration whose settings match its type. */
export type IntegrationRequest = {
  [Type in IntegrationType]: Fields<Type>;
}[IntegrationType];

export type Integration = Schemas['IntegrationDocument'];

export type EmbedTokenRequest = {
  /** Id of the integration. */
  integration: string;
  /** Your own id of the viewer. */
  viewer?: string | undefined;
  /** One of `settings.resources` of the integration; may be absent if there is only one. */
  resource?: { readonly [name: string]: string | number } | undefined;
  /**
   * Values that replace properties, for a viewer who may see less: parts of stored lists, or values as they
   * are stored. `undefined` throws a TypeError, because it would be left out and the viewer would see
   * everything; for a viewer who may, pass `{}`.
   */
  narrow?: { readonly [property: string]: JsonValue };
} & (
  | {
      /** Token that the viewer presents; an absent one fails like an unknown one. */
      token: string | null | undefined;
      user_group_id?: undefined;
    }
  | { user_group_id: string; token?: undefined }
);

/** `token` is a signed JWT, a credential until `expires_at`; a browser opens it at `url`, which only Metabase has. */
export type EmbedToken = Schemas['EmbedToken']['embed_token'];

/** `issuer` is null until the first integration that needs keys. */
export type SigningKeys = Omit<Schemas['SigningKeys'], 'success'>;
