// What every code of `src/problem.ts` means and what to do about it: for /errors, and for the answers that the
// description of the API lists at each operation.

import { userGroupBody } from '../../domain/body.ts';
import { limits } from '../../domain/field.ts';
import { unauthenticated } from '../../operations/authenticate.ts';
import { tokenNotFound } from '../../operations/context.ts';
import { Problem, type ProblemCode } from '../../problem.ts';
import { requireBody } from '../body.ts';
import { nothingAtPath, problemOf } from '../problem.ts';
import { MAX_HEADER_BYTES } from '../socket.ts';

/** Where a code can occur; `named`: where the description of an operation names it. */
export type Occurrence = 'every request' | 'API token' | 'permission' | 'body' | 'path parameter' | 'named';

export interface ProblemDescription {
  occurrence: Occurrence;
  meaning: string;
  remedy: string;
  /** As the service throws it. */
  example: Problem;
}

export const problemDescriptions = {
  invalid_json: {
    occurrence: 'body',
    meaning:
      'The body is no JSON, or JSON that two readers can read differently: a key stands twice (at any depth), the ' +
      'bytes are not UTF-8 or begin with a byte order mark, a surrogate stands alone, a key is `__proto__`, a ' +
      `field has more than ${limits.propertiesLevels} levels, or text follows the end. Nothing was done.`,
    remedy: 'Send what a JSON library prints, in UTF-8. `errors` points at the place.',
    example: caught(() =>
      userGroupBody.read(Buffer.from('{"user_group_id":"acme-7","user_group_id":"acme-8"}')),
    ),
  },
  invalid_request: {
    occurrence: 'every request',
    meaning:
      'The request is understood and not right: a field is missing, of another type or beyond its limits; a header ' +
      'is malformed or stands twice; the URL has a query that the call does not take. Nothing was done.',
    remedy:
      'Mend all that `errors` lists: each entry has the place in the body, as a JSON pointer, and what is wrong ' +
      'there. The same request is refused again, so do not repeat it unchanged.',
    example: caught(() => userGroupBody.read(Buffer.from('{"user_group_id":7,"name":""}'))),
  },
  unknown_field: {
    occurrence: 'body',
    meaning:
      'The body has a field that this call does not know. Nothing that you send is dropped in silence, so nothing ' +
      'was done.',
    remedy: 'Correct the name, or leave the field out. `detail` tells the nearest name that is known.',
    example: caught(() => userGroupBody.read(Buffer.from('{"user_group_id":"acme-7","nam":"Acme Inc."}'))),
  },
  body_missing: {
    occurrence: 'body',
    meaning:
      'No body arrived. At `GET /api/user` a client or a proxy between has often dropped it: many do not let a GET ' +
      'have one.',
    remedy: 'Use `POST /v1/user-groups`, which takes the same body and gives the same answer.',
    example: caught(() => requireBody(Buffer.alloc(0), 'GET')),
  },
  unauthenticated: {
    occurrence: 'API token',
    meaning:
      'The header `Authorization` is missing or malformed, or its API token is unknown, expired or revoked. All of ' +
      'these answer alike. A user group token (`ugt_…`) is no API token.',
    remedy:
      'Send `Authorization: Token <API_TOKEN>`, the word `Token` included. The operator of the service makes an ' +
      'API token with `user-group-service api-token create`.',
    example: unauthenticated(),
  },
  permission_denied: {
    occurrence: 'permission',
    meaning:
      'The API token is good, and its permission does not reach this far: one that is `read-only` changes and ' +
      'creates nothing, one that is `resolve` can only resolve.',
    remedy: 'Call with an API token of the permission that `detail` names.',
    example: new Problem(
      'permission_denied',
      'An API token with the permission read-only may not create a user group; this needs read-write.',
    ),
  },
  origin_not_allowed: {
    occurrence: 'every request',
    meaning:
      'The request has an `Origin` header, so a page in a browser has sent it, and that origin is not one that the ' +
      'service is configured to take.',
    remedy:
      'Call from your backend: whoever can open the page could read the API token. For an own console, the ' +
      'operator sets `UGS_ALLOWED_ORIGINS`.',
    example: new Problem(
      'origin_not_allowed',
      'Requests from browsers on other origins are refused: an API token has no business in a browser. Call from your backend.',
    ),
  },
  user_group_not_found: {
    occurrence: 'named',
    meaning:
      "There is no user group of this id in the API token's workspace and environment. Get-or-create answers so " +
      'where no `name` is sent: then it only looks.',
    remedy: 'Send a `name` with get-or-create: that creates it. Ids are compared byte for byte.',
    example: new Problem(
      'user_group_not_found',
      'There is no user group with this user_group_id. Send a name with it to create one.',
    ),
  },
  user_group_token_not_found: {
    occurrence: 'named',
    meaning:
      'The user group token is unknown, mistyped, rotated away, or of another workspace or environment. All of ' +
      'these answer alike, so that the answer tells nothing about tokens of others.',
    remedy:
      'Ask get-or-create for the current token of the group, and save it. A dashboard server that resolves tokens ' +
      'treats the viewer as nobody.',
    example: tokenNotFound(),
  },
  not_found: {
    occurrence: 'path parameter',
    meaning:
      'The service has nothing at this path. An id with a slash that is not percent-encoded makes two paths of one.',
    remedy: 'Compare the path with the documentation, and percent-encode ids: `a/b` is `a%2Fb`.',
    example: nothingAtPath(),
  },
  method_not_allowed: {
    occurrence: 'every request',
    meaning: 'The path is right and does not take this method. Nothing was done; HEAD never creates.',
    remedy: '`Allow` lists the methods. Where you have sent one of them, a client or a proxy has changed it.',
    example: new Problem('method_not_allowed', 'This path takes GET, PUT, POST.'),
  },
  request_timeout: {
    occurrence: 'every request',
    meaning: 'The request did not arrive whole in the time that it may take. The connection is closed.',
    remedy:
      'Send it again. Where it happens often, look at the network, or at a client that opens connections too early.',
    example: new Problem('request_timeout', 'The request did not arrive whole within the time it may take.'),
  },
  version_mismatch: {
    occurrence: 'named',
    meaning:
      'The user group has another version than the one that `If-Match` names: somebody has changed it. Nothing was done.',
    remedy: 'Read the group again, decide anew, and send the change with the new `ETag`.',
    example: new Problem(
      'version_mismatch',
      'The user group has changed since the version that If-Match names. Read it again and decide anew.',
    ),
  },
  body_too_large: {
    occurrence: 'API token',
    meaning: `The body has more than ${limits.bodyBytes / 1024} KiB. Nothing was done.`,
    remedy: `Send less: \`properties\` may have ${limits.propertiesBytes / 1024} KiB.`,
    example: new Problem('body_too_large', `The body must be at most ${limits.bodyBytes} bytes.`),
  },
  unsupported_media_type: {
    occurrence: 'body',
    meaning: 'The body is declared to be something else than plain JSON in UTF-8, or is compressed.',
    remedy: 'Send `Content-Type: application/json` and no `Content-Encoding`.',
    example: new Problem(
      'unsupported_media_type',
      'Send the body with "Content-Type: application/json" (UTF-8).',
    ),
  },
  rate_limited: {
    occurrence: 'API token',
    meaning: 'The API token has made more requests in a minute than the operator lets it. Nothing was done.',
    remedy: 'Wait the seconds that `Retry-After` says, then send the same call again.',
    example: new Problem('rate_limited', 'This API token may make 600 requests a minute.', {
      retryAfterSeconds: 17,
    }),
  },
  headers_too_large: {
    occurrence: 'every request',
    meaning: `The request line and the headers have more than ${MAX_HEADER_BYTES / 1024} KiB together.`,
    remedy: 'Look for cookies and headers that a proxy adds. The service needs none of them.',
    example: new Problem('headers_too_large', `The headers must be at most ${MAX_HEADER_BYTES} bytes.`),
  },
  internal_error: {
    occurrence: 'every request',
    meaning:
      'A mistake of the service. It is in the log, whole, under the `request_id`; the answer tells nothing of it.',
    remedy: 'Give the operator the `request_id`. Every call may be sent again.',
    example: problemOf(new Error()),
  },
  overloaded: {
    occurrence: 'API token',
    meaning: 'More requests wait than the service can serve in time. This one was not begun.',
    remedy:
      'Wait the seconds that `Retry-After` says, then send the same call again; a little later each time.',
    example: new Problem('overloaded', 'Too many requests wait for the database. Try again shortly.', {
      retryAfterSeconds: 1,
    }),
  },
  database_unavailable: {
    occurrence: 'API token',
    meaning:
      'The database does not answer, or what it holds cannot be read. A change has happened whole or not at all.',
    remedy:
      'Wait the seconds that `Retry-After` says, then send the same call again: each can be repeated, and repeating ' +
      'one that has happened changes nothing more.',
    example: new Problem(
      'database_unavailable',
      'The database cannot be asked now. Nothing was changed, or the change is whole; try again.',
    ),
  },
  shutting_down: {
    occurrence: 'every request',
    meaning: 'This process of the service is ending and takes no new requests. Nothing was done.',
    remedy:
      'Send the same call again on a new connection: another process may answer, or this one when it is back.',
    example: new Problem(
      'shutting_down',
      'The service is shutting down. Try again: another process may answer.',
    ),
  },
} as const satisfies Record<ProblemCode, ProblemDescription>;

/** What the call throws: an example in the words of whoever refuses. */
export function caught(refuse: () => unknown): Problem {
  try {
    refuse();
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
  throw new Error('an example of a refusal is accepted');
}
