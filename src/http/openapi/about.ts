// What the description of the API says before its first operation. CommonMark.

import { limits } from '../../domain/field.ts';

export const about = `
A **user group** is one of your customers, by your own id of it: the \`user_group_id\`. The service gives each a token, which you save and render into an embedded dashboard; whoever serves that dashboard asks by the token who is viewing. A user group can have a \`mapping\` to data sources, and \`properties\` that dashboards read as variables.

The three calls on \`/api/user\` are frozen: they never change. \`/v1\` only grows.

- **JSON in, JSON out.** A body is at most ${limits.bodyBytes / 1024} KiB of JSON in UTF-8, declared as \`application/json\` and not compressed. Lengths count code points.
- **What comes in goes out the same.** Numbers keep their digits (\`9007199254740993\`, \`1.10\`, \`1e400\`), keys their order, strings their code points. JSON that can be read in two ways is refused.
- **Nothing is dropped in silence.** An unknown field or parameter is refused, and the answer names the nearest known one.
- **Every call can be repeated.** A create finds what it has made, an update is absolute, a rotation that is repeated gives the same token.
- **Nothing is stale.** A token that was rotated, deleted or revoked is refused by every process from the next request on.
- **Errors are one object** (RFC 9457), whatever raised it. Act on its \`code\`; [the page of errors](/errors) says what each means and what to do.
- **Every answer** has an \`X-Request-Id\`, which finds it in the log of the service, and \`Cache-Control: no-store\`.
`.trim();

const description = `
The header \`Authorization: Token <API_TOKEN>\`: the word \`Token\`, a space, and the API token. Where a tool asks for a value, give it all three.

The operator of the service makes an API token with \`user-group-service api-token create\`. It is shown once, may expire, and can be revoked. It belongs to one workspace and one environment, \`Customer\` or \`Testing\`, and sees nothing of the others. Its permission is one of:

- \`read-write\`: everything.
- \`read-only\`: whatever changes nothing, and never the creation of a user group. Get-or-create shows it the token of one that exists; the read and the list do not.
- \`resolve\`: only to resolve tokens. This is what a dashboard server holds.

The token of a user group (\`ugt_…\`) authenticates no call. An API token has no business in a browser: requests of pages on other origins are refused.
`.trim();

/**
 * Not \`http\` with the scheme \`Token\`: it would say more, but tools know only Basic and Bearer there and leave the
 * header out. A key in a header is what all of them send.
 */
export const authentication = { type: 'apiKey', in: 'header', name: 'Authorization', description };
