// Contract: every operation rejects invalid or repeated headers for authentication, media type, origin and
// preconditions, even if the body is valid.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { checkMediaType } from '../../src/http/request/media-type.ts';
import * as headers from '../support/bad-input/header-cases.ts';
import {
  type BodilessOperation,
  bodilessOperationsOn,
  type Operation,
  operationsOn,
} from '../support/bad-input/operation.ts';
import { assertRejected, type BadCase } from '../support/bad-input/refusal.ts';
import { Victim } from '../support/bad-input/victim.ts';
import { describeOnEachDatabase } from '../support/database.ts';

const tables: Readonly<
  Record<string, (operations: readonly (Operation | BodilessOperation)[], victim: Victim) => BadCase[]>
> = {
  'is rejected without a valid API token': headers.badAuthorizations,
  'is rejected without details about the body if it is unauthenticated': headers.unauthenticatedBodies,
  'is rejected if the body is not declared as JSON': headers.badMediaTypes,
  'is rejected if the body has a content coding': headers.contentCoded,
  'is rejected if its origin is foreign': headers.foreignOrigins,
  'is rejected if a single-valued header is repeated': headers.repeatedHeaders,
  'is rejected if it has fields in the query string': headers.fieldsInQuery,
  'is rejected if its precondition is malformed or names another version': headers.badConditions,
};

describeOnEachDatabase('A request', (database) => {
  const victim = Victim.of(database);

  for (const [title, casesOf] of Object.entries(tables)) {
    it(title, (t) =>
      assertRejected(t, victim, casesOf([...operationsOn(victim), ...bodilessOperationsOn(victim)], victim)),
    );
  }
});

it('A media type is rejected in less than quadratic time', () => {
  // Takes a millisecond; quadratic time would take 20 seconds.
  const headers = { 'content-type': `application/json${' '.repeat(200_000)}x` };
  const start = performance.now();
  assert.throws(() => checkMediaType({ headers }, ['application/json']), { code: 'unsupported_media_type' });
  assert.ok(performance.now() - start < 2_000);
});
