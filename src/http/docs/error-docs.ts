// The meaning of every error code and what to do about it, for /errors and the API description.

import { limits } from '../../domain/field.ts';
import type { ProblemCode } from '../../problem.ts';
import { MAX_HEADER_BYTES, MAX_HEADER_FIELDS } from '../request/parser-errors.ts';

export const problemDescriptions: Readonly<Record<ProblemCode, { meaning: string; remedy: string }>> = {
  invalid_json: {
    meaning:
      'The body is not JSON, or is ambiguous: it has a duplicate key (at any depth), bytes that are not UTF-8, a byte ' +
      'order mark, a lone surrogate, the key `__proto__`, text after its end, a field with more than ' +
      `${limits.propertiesLevels} levels, or more values than any valid body has. Nothing was changed.`,
    remedy: 'Send the output of a JSON library, in UTF-8. `errors` points to the invalid value.',
  },
  invalid_request: {
    meaning:
      'The request is not valid: a field is missing, has the wrong type or exceeds a limit; a header is malformed, is ' +
      'duplicated or is a precondition that the endpoint does not support; the URL has a query that the endpoint does ' +
      'not accept. Nothing was changed.',
    remedy:
      'Fix everything that `errors` lists: each entry has a JSON pointer into the body and what is wrong there. Do not ' +
      'retry the request unchanged.',
  },
  unknown_field: {
    meaning:
      'The body has a field that the endpoint does not know. No field is silently ignored, so nothing was changed.',
    remedy: 'Correct the name, or omit the field. `detail` suggests the most similar known name.',
  },
  body_missing: {
    meaning:
      'The request has no body. For `GET /api/user` a client or proxy has often dropped it: many do not support a GET ' +
      'with a body.',
    remedy:
      'Send the body. In place of `GET /api/user` use `POST /v1/user-groups`, which accepts the same body and returns the ' +
      'same response.',
  },
  unauthenticated: {
    meaning:
      'The header `Authorization` is missing or malformed (for example an unset variable, or the word `Token` twice), ' +
      'or its API token is unknown, expired or revoked. The response is the same for all of these. A user group token ' +
      '(`ugt_…`) is not an API token.',
    remedy:
      'Send `Authorization: Token <API_TOKEN>`, including the word `Token` (or `Bearer`). The operator of the service creates an API token with `user-group-service api-token create`.',
  },
  viewer_unauthenticated: {
    meaning:
      'Forward authentication: the request of the viewer has no user group token, or one that does not resolve. The ' +
      'response is the same for all of these.',
    remedy:
      'Show the viewer an error, or a page that renders a current token. If every viewer gets this, the proxy does not ' +
      'pass the token on.',
  },
  user_group_not_forwardable: {
    meaning:
      'Forward authentication: the token is valid, but the headers cannot say everything about its user group: a schema ' +
      'of the catalogue or of the mapping leads to no data source, or there are too many data sources or too long values. ' +
      'Nothing is left out silently.',
    remedy:
      'Correct the mapping or the catalogue; `detail` says what is wrong. Or resolve the token instead.',
  },
  permission_denied: {
    meaning:
      'The API token is valid but lacks the permission: `read-only` cannot change or create anything, `resolve` can ' +
      'only resolve tokens, `embed` only resolve and mint tokens, and `read-write` does not configure anything.',
    remedy: 'Use an API token with the permission that `detail` names.',
  },
  origin_not_allowed: {
    meaning:
      'The request has an `Origin` header, so a page in a browser sent it, and the service is not configured to allow ' +
      'that origin.',
    remedy:
      'Call from your backend: anyone who can open the page could read the API token. For a console of your own, the ' +
      'operator sets `UGS_ALLOWED_ORIGINS`. For that of the service, the proxy in front must pass the `Host` header on unchanged.',
  },
  user_group_not_found: {
    meaning:
      "No user group in the API token's workspace and environment has this id. Get-or-create returns this if no `name` " +
      'is sent: then it is a lookup.',
    remedy: 'To create the group, send a `name` with get-or-create. Ids are compared byte for byte.',
  },
  user_group_token_not_found: {
    meaning:
      'The user group token is unknown, mistyped, replaced by a rotation, of a suspended group, or of another workspace or environment. The ' +
      'response is the same for all of these, so that it reveals nothing about tokens of others.',
    remedy:
      'Call get-or-create for the current token of the group, on each page load. A dashboard server that resolves ' +
      'tokens treats the viewer as unknown.',
  },
  api_token_not_found: {
    meaning: "No API token of the caller's workspace and environment has this `api_token_id`.",
    remedy: 'List the API tokens. A text (`uga_…`) is not an id.',
  },
  not_found: {
    meaning:
      'The path does not exist, or nothing has the id in it; `detail` says which. An id with a slash that is not ' +
      'percent-encoded results in another path.',
    remedy:
      'Compare the path with the documentation: it is in lower case, without a slash at the end. Percent-encode ids: ' +
      '`a/b` is `a%2Fb`.',
  },
  method_not_allowed: {
    meaning: 'The path exists but does not support this method. Nothing was changed; HEAD never creates.',
    remedy: '`Allow` lists the methods. If you sent one of them, a client or proxy has changed it.',
  },
  request_timeout: {
    meaning:
      'The service timed out waiting for the complete request, or a large body stalled for more than a second while ' +
      'the process held as many large bodies as it admits. The connection is closed.',
    remedy:
      'Retry. If it happens often, check the network, or a client that opens connections before it needs them.',
  },
  api_token_inactive: {
    meaning: 'The API token is revoked or expired, so it cannot be rotated. Nothing was changed.',
    remedy: 'Create a new API token.',
  },
  user_group_exists: {
    meaning: 'Another user group has the new `user_group_id`. Nothing was changed.',
    remedy: 'Read that group: delete it first, or rename to another id.',
  },
  limit_reached: {
    meaning:
      'The workspace and environment have as many objects of this kind, or as many bytes of them, as allowed, and nothing ' +
      'was changed. Or the data sources of a user group, or the defaults of all schemas, have more bytes than a resolution ' +
      'contains. Or more data sources are reserved for a user group than a rename moves, or the longer id makes them exceed their limit.',
    remedy: '`detail` names the limit. Remove what is not used, or shorten the attributes of data sources.',
  },
  in_use: {
    meaning:
      'User groups use the data source, the schema or its default, which would be deleted; or there are too many user groups ' +
      'to check that in time. Nothing was changed.',
    remedy:
      '`detail` says how many. Change their mappings first: `GET /v1/user-groups?data_source=` lists those of a data source. ' +
      'Or send `force=true`: their references are then dangling.',
  },
  mapping_invalid: {
    meaning:
      'The mapping policy is `enforce`, and the mapping refers to a schema or data source that does not exist, or to a data ' +
      'source of another schema or user group. Nothing was changed.',
    remedy: 'Correct the entries that `errors` names, or create what they refer to.',
  },
  properties_invalid: {
    meaning: 'The property schema is enforced, and the properties violate it. Nothing was changed.',
    remedy: 'Correct the properties that `errors` names.',
  },
  version_mismatch: {
    meaning:
      'The user group, or other resource, does not have a version that `If-Match` names, because it was changed or does not exist, or it ' +
      'has one that `If-None-Match` excludes; with `*`: it exists. Nothing was changed.',
    remedy: 'Read it again, decide whether to change it, and send the change with the new `ETag`.',
  },
  body_too_large: {
    meaning: `The body has more than ${limits.bodyBytes / 1024} KiB. Nothing was changed.`,
    remedy: `Send less: \`properties\` may have ${limits.propertiesBytes / 1024} KiB.`,
  },
  unsupported_media_type: {
    meaning:
      'The body is declared as something other than JSON in UTF-8 (for introspection: a form), or is compressed.',
    remedy: 'Send the `Content-Type` that `detail` names, and no `Content-Encoding`.',
  },
  claim_missing: {
    meaning:
      'The integration fills the token with a value that the user group does not have, or that is empty. `errors` points ' +
      'to each in the user group. No token was minted.',
    remedy: 'Set the value of the user group, or remove it from the integration.',
  },
  claim_invalid: {
    meaning:
      'A value of the user group cannot be part of this type of token: it has a form that the tool does not support, ' +
      'cannot be written into SQL safely, or the token would be too long. Or its data source is reserved for another user ' +
      'group, or `narrow` has a value that is not its own. No token was minted.',
    remedy: 'Change the value that `errors` points to, the integration or `narrow`.',
  },
  rate_limited: {
    meaning:
      'The API token has exceeded the requests per minute that the operator allows; `RateLimit` has the rest of each ' +
      'minute. Or too many requests from the same address were refused in this minute because of a missing or invalid API ' +
      'token, an unknown path or an unknown issuer, or asked for pages that need no API token: a request with a valid API ' +
      'token is accepted immediately. Nothing was changed.',
    remedy: 'Read `detail`. Wait the seconds in `Retry-After`, then retry; or correct the API token.',
  },
  headers_too_large: {
    meaning: `The request line and headers exceed ${MAX_HEADER_BYTES / 1024} KiB, or there are more than ${MAX_HEADER_FIELDS} header fields.`,
    remedy: 'Check for cookies and headers that a proxy adds. The service needs none of them.',
  },
  internal_error: {
    meaning:
      'A bug or an unexpected failure of the service. The log has the details under the `request_id`; the response has none.',
    remedy: 'Give the operator the `request_id`. Retry as after `database_unavailable`.',
  },
  not_implemented: {
    meaning:
      'The service does not know the method at all. Nothing was changed, and the connection is closed.',
    remedy: 'Use an HTTP method in upper case: `GET`, not `get`.',
  },
  overloaded: {
    meaning: 'More requests are waiting than the service can serve in time. This one was not started.',
    remedy: 'Wait the seconds in `Retry-After`, then retry with increasing backoff.',
  },
  database_unavailable: {
    meaning:
      'The database is unreachable or timed out, or stored data cannot be read. A change was applied completely or not ' +
      'at all.',
    remedy:
      'Wait the seconds in `Retry-After`, then retry: repeating a call that was applied changes nothing more. The ' +
      'exceptions are calls that issue another token, secret or key each time, such as a rotation by id without `If-Match`.',
  },
  shutting_down: {
    meaning: 'This process of the service is shutting down and rejects new requests. Nothing was changed.',
    remedy: 'Retry on a new connection: another process may respond, or this one after its restart.',
  },
};
