// API tokens: when one is valid, and what its permission allows.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  type ApiToken,
  apiTokenFields,
  apiTokenStatus,
  apiTokenTextTag,
  type Caller,
  isPermitted,
  operator,
  permissions,
  previousTextUntil,
} from '../../src/domain/api-token.ts';
import { digestToken } from '../../src/domain/token.ts';

const apiToken: ApiToken = {
  apiTokenId: 1,
  workspaceId: 1,
  environment: 'Customer',
  permission: 'read-only',
  name: 'proxy',
  digest: digestToken('a'),
  previousDigest: null,
  previousExpiresAt: null,
  createdAt: 0,
  expiresAt: null,
  revokedAt: null,
  lastUsedAt: null,
};
const NOW = 1_000;

describe('an API token', () => {
  it('is active until it expires', () => {
    assert.equal(apiTokenStatus(apiToken, NOW), 'active');
    assert.equal(apiTokenStatus({ ...apiToken, expiresAt: NOW + 1 }, NOW), 'active');
    assert.equal(apiTokenStatus({ ...apiToken, expiresAt: NOW }, NOW), 'expired');
  });

  it('is revoked even before it expires, and from the start of 1970', () => {
    for (const revokedAt of [0, 5]) assert.equal(apiTokenStatus({ ...apiToken, revokedAt }, NOW), 'revoked');
    assert.equal(apiTokenStatus({ ...apiToken, revokedAt: 5, expiresAt: 6 }, NOW), 'revoked');
  });

  it('keeps its replaced text until the end of the grace period, while it is active', () => {
    assert.equal(previousTextUntil(apiToken, NOW), null);
    const rotated = { ...apiToken, previousExpiresAt: NOW + 1 };
    assert.equal(previousTextUntil(rotated, NOW), NOW + 1);
    assert.equal(previousTextUntil(rotated, NOW + 1), null);
    assert.equal(previousTextUntil({ ...rotated, revokedAt: 5 }, NOW), null);
    assert.equal(previousTextUntil({ ...rotated, expiresAt: NOW }, NOW), null);
  });

  it('has a tag of its text that is not the start of its digest', () => {
    const tag = apiTokenTextTag(apiToken);
    assert.match(tag, /^[\w-]{16}$/);
    assert.notEqual(tag, apiToken.digest.slice(0, 16));
    assert.notEqual(apiTokenTextTag({ digest: digestToken('b') }), tag);
  });

  it('writes its name, permission and expiry into its event, and not its digest', () => {
    assert.deepEqual(apiTokenFields({ ...apiToken, expiresAt: 0 }), {
      name: '"proxy"',
      permission: '"read-only"',
      expires_at: '"1970-01-01T00:00:00.000Z"',
    });
    assert.equal(apiTokenFields(apiToken).expires_at, 'null');
  });
});

describe('a permission', () => {
  const caller = (permission: Caller['permission']): Caller => ({
    ...operator({ workspaceId: 1, environment: 'Customer' }),
    permission,
  });

  it('allows what names it, and admin everything', () => {
    for (const permission of permissions) {
      for (const required of permissions)
        assert.equal(
          isPermitted(caller(permission), [required, 'embed']),
          permission === 'admin' || permission === required || permission === 'embed',
        );
      assert.equal(isPermitted(caller(permission), []), permission === 'admin');
    }
  });

  it('of the operator is admin, without an API token', () => {
    assert.deepEqual(operator({ workspaceId: 3, environment: 'Testing' }), {
      workspaceId: 3,
      environment: 'Testing',
      permission: 'admin',
      apiTokenId: null,
      name: null,
      configVersion: null,
    });
  });
});
