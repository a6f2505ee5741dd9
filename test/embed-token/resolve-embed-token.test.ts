// Contract: resolve accepts an embed token of the type jwt as long as what it says is still true.

import assert from 'node:assert/strict';
import { createHmac, generateKeyPairSync, sign } from 'node:crypto';
import { before, it } from 'node:test';
import { decodeJwt, decodeProtectedHeader } from 'jose';
import { describeOnEachDatabase } from '../support/database.ts';
import { EmbedSite, integrations } from '../support/embed-token/site.ts';
import { assertProblem } from '../support/problem.ts';
import { served } from '../support/process.ts';
import { runSql } from '../support/sql.ts';

const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');

describeOnEachDatabase('POST /v1/resolve of an embed token', (database) => {
  const site = EmbedSite.of(database);
  before(async () => {
    await site.putAll();
  });

  async function mintFor(id: string, more: object = {}): Promise<{ token: string; userGroupToken: string }> {
    const group = {
      user_group_id: id,
      name: id,
      mapping: { 40: 1 },
      properties: { region: 'EMEA', seats: 1 },
    };
    const userGroupToken = await site.createGroup(group);
    const token = await site.token('jwt', { user_group_id: id, ...more });
    return { token, userGroupToken };
  }

  async function assertRejected(token: string, reason: string, as = site.service.token): Promise<void> {
    const response = await site.service.resolve(token, { token: as });
    assert.equal(response.status, 404, reason);
    assertProblem(response, 'user_group_token_not_found');
  }

  it('returns the current group and when the token expires', async () => {
    const { token, userGroupToken } = await mintFor('current');
    const byJwt = await site.service.resolve(token);
    const byToken = await site.service.resolve(userGroupToken);
    assert.deepEqual(byJwt.json.user_group, byToken.json.user_group);
    const expires_at = new Date(decodeJwt(token).exp! * 1_000).toISOString();
    assert.deepEqual(byJwt.json.token, { status: 'embed', expires_at });
  });

  it('accepts RS256, and every permission that may resolve', async () => {
    await site.put('rs256', { type: 'jwt', settings: { audience: 'a', algorithm: 'RS256' } });
    await mintFor('rs');
    const token = await site.token('rs256', { user_group_id: 'rs' });
    for (const permission of ['admin', 'read-only', 'resolve', 'embed'] as const) {
      const as = await site.service.apiToken({ permission });
      assert.equal((await site.service.resolve(token, { token: as.token })).status, 200, permission);
    }
  });

  const changes: Record<string, (id: string, userGroupToken: string) => Promise<unknown>> = {
    'a rotation': (_id, current_token) => site.service.post({ current_token }),
    'a rotation with a grace period': (_id, current_token) =>
      site.service.post({ current_token, grace_period_seconds: 600 }),
    'an update of a property': (id) =>
      site.service.put({ user_group_id: id, properties: { region: 'APAC' } }),
    'an update of the mapping': (id) => site.service.put({ user_group_id: id, mapping: { 40: 2 } }),
    'an update that is undone': async (id) => {
      await site.service.put({ user_group_id: id, name: 'other' });
      await site.service.put({ user_group_id: id, name: id });
    },
    'a suspension': (id) => site.suspend(id),
    'a suspension that is ended': async (id) => {
      await site.suspend(id);
      await site.suspend(id, false);
    },
    'a restore after which a suspension got the version of the token': (id) =>
      runSql(site.service.database, `update user_groups set suspended_at = 1 where provided_id = '${id}'`),
    'a deletion': (id) => site.asAdmin('DELETE', `/v1/user-groups/${id}`),
    'a deletion and a new group with the same id': async (id) => {
      await site.asAdmin('DELETE', `/v1/user-groups/${id}`);
      await mintFor(id);
    },
  };

  for (const [reason, change] of Object.entries(changes)) {
    it(`rejects it immediately after ${reason}`, async () => {
      const id = `changed-by-${reason.replaceAll(' ', '-')}`;
      const { token, userGroupToken } = await mintFor(id);
      assert.equal((await site.service.resolve(token)).status, 200);
      await change(id, userGroupToken);
      await assertRejected(token, reason);
    });
  }

  it('accepts it after a change that changes nothing, and after a change of another group', async () => {
    const { token } = await mintFor('unchanged');
    await site.service.put({ user_group_id: 'unchanged', name: 'unchanged' });
    await mintFor('another');
    await site.service.put({ user_group_id: 'another', name: 'changed' });
    await site.asAdmin('DELETE', '/v1/integrations/rs256');
    assert.equal((await site.service.resolve(token)).status, 200);
  });

  it('rejects it from its expiry on', async () => {
    const { token } = await mintFor('expiring');
    const { exp } = decodeJwt(token);
    try {
      site.service.clockAheadMs = exp! * 1_000 - Date.now() - 5_000;
      assert.equal((await site.service.resolve(token)).status, 200);
      site.service.clockAheadMs = exp! * 1_000 - Date.now();
      await assertRejected(token, 'expired');
    } finally {
      site.service.clockAheadMs = 0;
    }
  });

  it('rejects it in another environment and workspace, even one with the same group', async () => {
    const { token } = await mintFor('isolated');
    for (const place of [{ environment: 'Testing' }, { workspaceName: 'other' }] as const) {
      const stranger = await site.service.apiToken(place);
      await site.service.get({ user_group_id: 'isolated', name: 'Same' }, { token: stranger.token });
      await assertRejected(token, JSON.stringify(place), stranger.token);
      const admin = await site.service.apiToken({ ...place, permission: 'admin' });
      const path = '/v1/integrations/jwt';
      const options = { token: admin.token };
      const put = await served(() => site.service.call('PUT', path, integrations.jwt, options));
      assert.equal(put.status, 201);
      await assertRejected(token, 'with keys of its own', stranger.token);
    }
    assert.equal((await site.service.resolve(token)).status, 200);
  });

  it('rejects the tokens of other types, which name no group', async () => {
    await mintFor('typed');
    const { secret: _, ...superset } = integrations.superset;
    await site.put('guest', { ...superset, settings: { ...superset.settings, algorithm: 'RS256' } });
    for (const [integration, more] of [
      ['metabase', { resource: { dashboard: 7 } }],
      ['superset', {}],
      ['guest', {}],
      ['lightdash', {}],
    ] as const) {
      await assertRejected(await site.token(integration, { user_group_id: 'typed', ...more }), integration);
    }
  });

  it('rejects every forgery', async () => {
    const { token } = await mintFor('forged', {
      viewer: 'a viewer with a long name, so that every token is long',
    });
    const [head = '', body = '', signature = ''] = token.split('.');
    const header = decodeProtectedHeader(token);
    const claims = decodeJwt(token);
    const keys = (await site.keySet()).json.keys as { kid: string; alg: string }[];
    const { publicKeys, own } = {
      publicKeys: keys.map((key) => JSON.stringify(key)),
      own: generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey,
    };
    const hmac = (key: string) => {
      const input = `${encode({ ...header, alg: 'HS256' })}.${body}`;
      return `${input}.${createHmac('sha256', key).update(input).digest('base64url')}`;
    };
    const signedByOther = (kid: string) => {
      const input = `${encode({ ...header, kid })}.${body}`;
      const by = { key: own, dsaEncoding: 'ieee-p1363' } as const;
      return `${input}.${sign('sha256', Buffer.from(input), by).toString('base64url')}`;
    };
    const rs256 = keys.find(({ alg }) => alg === 'RS256')!.kid;
    const forgeries: Record<string, string> = {
      'without a signature': `${head}.${body}.`,
      'of the algorithm none': `${encode({ alg: 'none', kid: header.kid })}.${body}.AAAA`,
      'signed with the public key as a secret': hmac(publicKeys[0]!),
      'signed by another key': signedByOther(header.kid!),
      'with an unknown key id': signedByOther('unknown'),
      'with the id of the RS256 key': signedByOther(rs256),
      'with other claims': `${head}.${encode({ ...claims, sub: 'isolated' })}.${signature}`,
      'with a later expiry': `${head}.${encode({ ...claims, exp: claims.exp! + 9_999 })}.${signature}`,
      'with a critical extension': `${encode({ ...header, crit: ['b64'] })}.${body}.${signature}`,
      'with an altered signature': `${head}.${body}.${signature.startsWith('A') ? 'B' : 'A'}${signature.slice(1)}`,
      'of four parts': `${token}.${signature}`,
      'with a prefix': ` ${token}`,
      'of 100 000 characters': `${head}.${'A'.repeat(100_000)}.${signature}`,
      'of arrays': `${encode([])}.${encode([])}.${signature.repeat(3)}`,
    };
    for (const [reason, forgery] of Object.entries(forgeries)) await assertRejected(forgery, reason);
    assert.equal((await site.service.resolve(token)).status, 200);
  });

  it('rejects it when its key is revoked', async () => {
    const { token } = await mintFor('revoked');
    await served(() => site.asAdmin('POST', '/v1/signing-keys/rotate', { revoke: true }));
    await assertRejected(token, 'revoked');
    assert.equal(
      (await site.service.resolve(await site.token('jwt', { user_group_id: 'revoked' }))).status,
      200,
    );
  });

  it('does not accept it in place of a user group token that is to be rotated', async () => {
    const { token } = await mintFor('not-rotated');
    assertProblem(await site.service.post({ current_token: token }), 'user_group_token_not_found');
  });
});
