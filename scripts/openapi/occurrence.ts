// States when each error code can occur, with an example that the service throws.

import { type Caller, operator } from '../../src/domain/api-token.ts';
import { limits } from '../../src/domain/field.ts';
import { claimInvalid, claimMissing } from '../../src/domain/integration.ts';
import { userGroupBody } from '../../src/domain/user-group/user-group-body.ts';
import {
  incompleteMapping,
  viewerUnauthenticated,
} from '../../src/http/endpoints/user-group/forward-auth.ts';
import { rateLimited } from '../../src/http/limits/rate-limit.ts';
import { bodyTooLarge, requireBody } from '../../src/http/request/body.ts';
import { checkOrigin } from '../../src/http/request/header-checks.ts';
import { checkMediaType } from '../../src/http/request/media-type.ts';
import { headersTooLarge, requestTimeout, unknownMethod } from '../../src/http/request/parser-errors.ts';
import { methodNotAllowed, nothingAtPath, shuttingDown, toProblem } from '../../src/http/response/problem.ts';
import { Unauthenticated } from '../../src/operations/api-token/authenticate.ts';
import { refuseIfUsed } from '../../src/operations/catalogue/use.ts';
import {
  apiTokenInactive,
  apiTokenLimitReached,
  apiTokenNotFound,
  idTaken,
  overloaded,
  permit,
  tokenNotFound,
  userGroupNotFound,
  versionMismatch,
} from '../../src/operations/refusals.ts';
import { Problem, type ProblemCode } from '../../src/problem.ts';
import { StoreUnavailable } from '../../src/store/port.ts';

/** Occasion on which a code can occur; `named`: only if the description of the endpoint lists it. */
type Occurrence =
  | 'every request'
  | 'origin'
  | 'API token'
  | 'body that is read'
  | 'permission'
  | 'body'
  | 'JSON body'
  | 'required body'
  | 'path parameter'
  | 'precondition'
  | 'named';

interface Occurring {
  occurrence: Occurrence;
  example: Problem;
}

const READER: Caller = { ...operator({ workspaceId: 1, environment: 'Customer' }), permission: 'read-only' };

export const occurrences: Readonly<Record<ProblemCode, Occurring>> = {
  invalid_json: {
    occurrence: 'JSON body',
    example: caught(() =>
      userGroupBody.read(Buffer.from('{"user_group_id":"acme-7","user_group_id":"acme-8"}')),
    ),
  },
  invalid_request: {
    occurrence: 'every request',
    example: caught(() => userGroupBody.read(Buffer.from('{"user_group_id":7,"name":""}'))),
  },
  unknown_field: {
    occurrence: 'JSON body',
    example: caught(() => userGroupBody.read(Buffer.from('{"user_group_id":"acme-7","nam":"Acme Inc."}'))),
  },
  body_missing: { occurrence: 'required body', example: caught(() => requireBody(Buffer.alloc(0), 'GET')) },
  unauthenticated: { occurrence: 'API token', example: new Unauthenticated('missing') },
  viewer_unauthenticated: { occurrence: 'named', example: viewerUnauthenticated },
  user_group_not_forwardable: { occurrence: 'named', example: incompleteMapping },
  permission_denied: {
    occurrence: 'permission',
    example: caught(() => permit(READER, ['read-write'], 'create a user group')),
  },
  origin_not_allowed: {
    occurrence: 'origin',
    example: caught(() => checkOrigin({ headers: { origin: 'https://example.com' } }, [])),
  },
  user_group_not_found: { occurrence: 'named', example: userGroupNotFound(' Send a name to create one.') },
  user_group_token_not_found: { occurrence: 'named', example: tokenNotFound() },
  api_token_not_found: { occurrence: 'named', example: apiTokenNotFound() },
  not_found: { occurrence: 'path parameter', example: nothingAtPath() },
  method_not_allowed: { occurrence: 'every request', example: methodNotAllowed('GET, PUT, POST') },
  request_timeout: { occurrence: 'every request', example: requestTimeout },
  api_token_inactive: { occurrence: 'named', example: apiTokenInactive('revoked') },
  user_group_exists: { occurrence: 'named', example: idTaken() },
  limit_reached: { occurrence: 'named', example: apiTokenLimitReached() },
  in_use: {
    occurrence: 'named',
    example: caught(() => refuseIfUsed({ count: 2_281, isBounded: false }, 'this data source')),
  },
  mapping_invalid: {
    occurrence: 'named',
    example: new Problem('mapping_invalid', 'mapping/40 refers to a data source that does not exist.', {
      errors: [{ pointer: '/mapping/40', detail: 'refers to a data source that does not exist' }],
    }),
  },
  properties_invalid: {
    occurrence: 'named',
    example: new Problem('properties_invalid', 'properties/plan is required.', {
      errors: [{ pointer: '/properties/plan', detail: 'is required' }],
    }),
  },
  version_mismatch: { occurrence: 'precondition', example: versionMismatch() },
  body_too_large: { occurrence: 'body that is read', example: bodyTooLarge(limits.bodyBytes) },
  unsupported_media_type: {
    occurrence: 'body',
    example: caught(() =>
      checkMediaType({ headers: { 'content-type': 'text/plain' } }, ['application/json']),
    ),
  },
  claim_missing: {
    occurrence: 'named',
    example: claimMissing([
      {
        pointer: '/properties/region',
        detail: 'is missing or empty; /claims/region of the integration requires it',
      },
    ]),
  },
  claim_invalid: {
    occurrence: 'named',
    example: claimInvalid([{ pointer: '/properties/region', detail: 'must not have control characters' }]),
  },
  rate_limited: { occurrence: 'every request', example: rateLimited(600, 17) },
  headers_too_large: { occurrence: 'every request', example: headersTooLarge },
  internal_error: { occurrence: 'every request', example: toProblem(new Error()) },
  not_implemented: { occurrence: 'every request', example: unknownMethod },
  overloaded: { occurrence: 'API token', example: overloaded },
  database_unavailable: { occurrence: 'API token', example: toProblem(new StoreUnavailable()) },
  shutting_down: { occurrence: 'every request', example: shuttingDown },
};

/** Returns the problem that the call throws. */
function caught(reject: () => unknown): Problem {
  try {
    reject();
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
  throw new Error('an example of an invalid request is accepted');
}
