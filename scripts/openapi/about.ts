// Introduction of the API description, in CommonMark.

import type { OpenAPIV3_1 } from 'openapi-types';
import { type Permission, permissions } from '../../src/domain/api-token.ts';
import { limits } from '../../src/domain/field.ts';

export const about = `
A **user group** is one of your customers, identified by your own id: the \`user_group_id\`. The service issues each a token, which your backend renders into the page with the embedded dashboard; the server of that dashboard resolves the token to learn who is viewing. A user group can have a \`mapping\` to data sources, and \`properties\` that dashboards read as variables.

The three calls on \`/api/user\` are frozen: they never change. \`/v1\` only grows.

- **JSON in, JSON out.** A body is at most ${limits.bodyBytes / 1024} KiB of JSON in UTF-8, sent as \`application/json\` and not compressed. Lengths count code points.
- **JSON round-trips exactly.** Numbers keep their digits (\`9007199254740993\`, \`1.10\`, \`1e400\`), keys their order, strings their code points. Ambiguous JSON is rejected.
- **Nothing is silently ignored.** An unknown field or parameter is rejected, and the response suggests the most similar known one.
- **Calls can be retried.** A create returns the existing group, an update is absolute, a repeated rotation by token returns the same token. A rotation by id takes \`If-Match\` for this. The few calls that issue another secret each time say so.
- **Nothing is stale.** Every process rejects a token that was rotated, deleted or revoked from the next request on.
- **A user group token** is only for your backend, the viewers of that group and the server of their dashboards. It does not expire. Call get-or-create on each page load and render the token that it returns; a copy in a session is no longer valid when the grace period of a rotation ends.
- **Errors are one object** (RFC 9457), regardless of their source. Act on its \`code\`; [the error page](/errors) documents each code and what to do.
- **Every response** has an \`X-Request-Id\`, which identifies it in the log of the service (the caller's own, if it sends one), and \`Cache-Control: no-store\`.
`.trim();

const permissionTexts: Readonly<Record<Permission, string>> = {
  admin: 'everything, including API tokens, the catalogue, integrations and webhook endpoints',
  'read-write':
    'everything about user groups. It also reads the catalogue, the events and the other settings',
  'read-only':
    'calls that change nothing. It cannot create a user group. Get-or-create returns the token of an existing group to it; the read and the list do not',
  resolve: 'only resolving tokens. For a dashboard server',
  embed: 'only resolving tokens, and creating embed tokens',
};

const description = `
The header \`Authorization: Token <API_TOKEN>\`: the word \`Token\`, a space, and the API token. If a tool prompts for a value, enter all three.

The operator of the service creates an API token with \`user-group-service api-token create\`. It is shown once, may expire, and can be revoked. It belongs to one workspace and one environment, \`Customer\` or \`Testing\`, and cannot access others. Its permission is one of:

${permissions.map((each) => `- \`${each}\`: ${permissionTexts[each]}.`).join('\n')}

The token of a user group (\`ugt_…\`) never authenticates a call. An API token does not belong in a browser: requests from pages on other origins are rejected.
`.trim();

/**
 * Not `http` with the scheme `Token`, which would be more precise: for `http`, tools support only Basic and
 * Bearer, and omit the header. All of them support an API key in a header.
 */
const token: OpenAPIV3_1.ApiKeySecurityScheme = {
  type: 'apiKey',
  in: 'header',
  name: 'Authorization',
  description,
};

/**
 * Introspection accepts all of these, other calls the first two.
 */
export const authentications = {
  token,
  bearer: {
    type: 'http',
    scheme: 'bearer',
    description: 'The API token after the word `Bearer` instead of `Token`.',
  },
  basic: {
    type: 'http',
    scheme: 'basic',
    description: 'Any user name, and the API token as the password. Only for introspection.',
  },
} as const satisfies Record<string, OpenAPIV3_1.SecuritySchemeObject>;
