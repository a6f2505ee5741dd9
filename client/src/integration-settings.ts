// Generated from the service by `npm run format`.

import type { JsonValue } from './wire.ts';

/** The settings of an integration, by its type. */
export interface IntegrationSettings {
  jwt: {
    /** RS256 is for tools that do not support ES256. HS256 signs with `secret`, for tools that do not read published keys. */
    algorithm?: 'ES256' | 'RS256' | 'HS256' | undefined;
    /** The claim `aud`: the tools that accept the token. Each must compare it with its own name. */
    audience: string | readonly string[];
    /** With HS256: members of the header of the token, such as the id of the secret in the tool. `iss` is a claim too. */
    header?:
      | {
          kid?: string | undefined;
          iss?: string | undefined;
        }
      | undefined;
    /** Without the claim `user_group`, for tools that read each claim as an attribute of the viewer. Such a token does not resolve. */
    flat?: boolean | undefined;
    /** The properties of user groups that may leave the service with a token. */
    properties?: readonly string[] | undefined;
    /** Treatment of a number beyond 2^53, or so close to an integer, that JavaScript rounds it to another one: no token is minted, or it becomes a text with the same digits, or it stays a number, for tools that read every digit. */
    large_numbers?: 'refuse' | 'text' | 'number' | undefined;
  };
  metabase: {
    /** The URL of Metabase. */
    url: string;
    /** The dashboards and questions that tokens may be for. Or `{"property": "…"}`: the property of the user group that has such a list. */
    resources:
      | readonly (
          | { dashboard: number | string; question?: undefined }
          | { question: number | string; dashboard?: undefined }
        )[]
      | {
          property: string;
        };
    /** The properties of user groups that may leave the service with a token. */
    properties?: readonly string[] | undefined;
    /** Treatment of a number beyond 2^53, or so close to an integer, that JavaScript rounds it to another one: no token is minted, or it becomes a text with the same digits, or it stays a number, for tools that read every digit. */
    large_numbers?: 'refuse' | 'text' | 'number' | undefined;
  };
  superset: {
    /** GUEST_TOKEN_JWT_ALGO. With RS256, GUEST_TOKEN_JWT_SECRET is the public key of the service, with which no one can mint a token; after a rotation it must be replaced. */
    algorithm?: 'HS256' | 'RS256' | undefined;
    /** GUEST_TOKEN_JWT_AUDIENCE. */
    audience: string;
    /** The embedded dashboards that tokens may be for. Or `{"property": "…"}`: the property of the user group that has such a list. */
    resources:
      | readonly {
          type: 'dashboard';
          id: string;
        }[]
      | {
          property: string;
        };
    /** The rows that a user group sees: those whose `column` equals `value`, or one of its elements if it is a list, by all rules of a data set. */
    row_level_security?:
      | readonly {
          /** The id of the data set that the rule restricts. */
          dataset?: number | undefined;
          /** Instead of `dataset`: the rule restricts every data set, and each must have the column. */
          all_datasets?: true | undefined;
          /** Written into the SQL as it is. */
          column: string;
          /** Where the value comes from. Exactly one of: `property`, a member of the properties of the user group; `mapping`, a schema id of its mapping; `field`, one of its own fields; `constant`, the same value for every user group. */
          value:
            | { property: string; mapping?: undefined; field?: undefined; constant?: undefined }
            | { mapping: string; property?: undefined; field?: undefined; constant?: undefined }
            | {
                field: 'provided_id' | 'name' | 'team_id' | 'environment';
                property?: undefined;
                mapping?: undefined;
                constant?: undefined;
              }
            | {
                /** Any JSON value except null, an empty text, an empty array and an empty object. */
                constant: JsonValue;
                property?: undefined;
                mapping?: undefined;
                field?: undefined;
              };
          /** The type of the column. */
          type?: 'text' | 'number' | undefined;
        }[]
      | undefined;
    /** How the database reads a quote or a backslash in a literal: `standard` (PostgreSQL, SQL Server, Oracle, Trino, SQLite) or `backslash` (Redshift, MySQL, MariaDB, BigQuery, Snowflake, ClickHouse, Databricks, Spark). If absent, no token is minted for a value with one. */
    string_escapes?: 'standard' | 'backslash' | undefined;
    /** The properties of user groups that may leave the service with a token. */
    properties?: readonly string[] | undefined;
    /** Treatment of a number beyond 2^53, or so close to an integer, that JavaScript rounds it to another one: no token is minted, or it becomes a text with the same digits, or it stays a number, for tools that read every digit. */
    large_numbers?: 'refuse' | 'text' | 'number' | undefined;
  };
  lightdash: {
    /** The dashboards, charts (`contentId`) and data apps (`appUuid`) that tokens may be for. Or `{"property": "…"}`: the property of the user group that has such a list. */
    resources:
      | readonly (
          | { dashboardUuid: string; dashboardSlug?: undefined; contentId?: undefined; appUuid?: undefined }
          | { dashboardSlug: string; dashboardUuid?: undefined; contentId?: undefined; appUuid?: undefined }
          | { contentId: string; dashboardUuid?: undefined; dashboardSlug?: undefined; appUuid?: undefined }
          | { appUuid: string; dashboardUuid?: undefined; dashboardSlug?: undefined; contentId?: undefined }
        )[]
      | {
          property: string;
        };
    /** What a viewer may do; Lightdash allows none of it by default. `canExplore`, `canViewUnderlyingData` and `canViewDataApps` let viewers query more than the dashboard shows: row filters must restrict every model. */
    options?:
      | {
          canExportCsv?: boolean | undefined;
          canExportDashboardCsv?: boolean | undefined;
          canExportImages?: boolean | undefined;
          canExportPagePdf?: boolean | undefined;
          canDateZoom?: boolean | undefined;
          canExplore?: boolean | undefined;
          canViewUnderlyingData?: boolean | undefined;
          canViewDataApps?: boolean | undefined;
          stickyHeader?: boolean | undefined;
          dashboardFiltersInteractivity?:
            | {
                enabled: true | false | 'some' | 'all' | 'none';
                allowedFilters?: readonly string[] | undefined;
                hidden?: boolean | undefined;
                canAddFilters?: boolean | undefined;
              }
            | undefined;
          parameterInteractivity?:
            | {
                enabled: boolean;
              }
            | undefined;
        }
      | undefined;
    /** The properties of user groups that may leave the service with a token. */
    properties?: readonly string[] | undefined;
    /** Treatment of a number beyond 2^53, or so close to an integer, that JavaScript rounds it to another one: no token is minted, or it becomes a text with the same digits, or it stays a number, for tools that read every digit. */
    large_numbers?: 'refuse' | 'text' | 'number' | undefined;
  };
}
