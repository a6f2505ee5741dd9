// Third-party verifiers accept the tokens, and reject what they must: jsonwebtoken, PyJWT and Cube's API
// gateway.

import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { decodeJwt, importSPKI } from 'jose';
import jsonwebtoken from 'jsonwebtoken';
import { sqlite } from '../support/database.ts';
import { acme, EmbedSite, integrations, SECRET } from '../support/embed-token/site.ts';

const PYJWT = fileURLToPath(new URL('../support/embed-token/pyjwt.py', import.meta.url));
const CUBE = fileURLToPath(new URL('../../examples/cube', import.meta.url));

/** Python that has PyJWT (Debian: python3-jwt). */
const python = ['python3', '/usr/bin/python3'].find(
  (name) => spawnSync(name, ['-c', 'import jwt.jwks_client']).status === 0,
);

/** Lightdash module that decodes embed tokens: `npm install --no-save @lightdash/common`. */
const LIGHTDASH = fileURLToPath(
  new URL('../../node_modules/@lightdash/common/dist/cjs/ee/embed/index.js', import.meta.url),
);

interface PyJwtRequest {
  token: string;
  key: string;
  algorithm: string;
  audience: string;
}

/** Asynchronous because PyJWT fetches the keys from the service in this process. */
async function decodeWithPyJwt(requests: readonly PyJwtRequest[]) {
  const decoder = spawn(python!, [PYJWT], { stdio: ['pipe', 'pipe', 'inherit'] });
  decoder.stdin.end(requests.map((request) => `${JSON.stringify(request)}\n`).join(''));
  const lines = (await text(decoder.stdout)).trim().split('\n');
  return lines.map((line) => JSON.parse(line) as { claims?: Record<string, unknown>; error?: string });
}

describe('Third-party verifiers', () => {
  const site = EmbedSite.of(sqlite);
  let jwksUrl: string;
  let issuer: string;
  before(async () => {
    await site.putAll();
    await site.createGroup();
    const { secret: _, ...superset } = integrations.superset;
    await site.put('superset-rs256', { ...superset, settings: { ...superset.settings, algorithm: 'RS256' } });
    ({ jwks_url: jwksUrl, issuer } = (await site.asAdmin('GET', '/v1/signing-keys')).json);
  });

  const pemOf = async (algorithm: string): Promise<string> => {
    const { signing_keys } = (await site.asAdmin('GET', '/v1/signing-keys')).json;
    return signing_keys.find((key: { algorithm: string }) => key.algorithm === algorithm).public_key;
  };

  it('the schema of Lightdash keeps every part of a token, for each type of content', {
    skip: !existsSync(LIGHTDASH) && '@lightdash/common is not installed',
  }, async () => {
    const { EmbedJwtSchema } = createRequire(import.meta.url)(LIGHTDASH) as {
      EmbedJwtSchema: { parse(claims: unknown): unknown };
    };
    const resources = [{ dashboardUuid: 'u' }, { dashboardSlug: 's' }, { contentId: 'c' }, { appUuid: 'a' }];
    const options = {
      canExportCsv: true,
      canExportDashboardCsv: true,
      canExplore: false,
      canViewUnderlyingData: true,
      canViewDataApps: true,
      stickyHeader: true,
      dashboardFiltersInteractivity: {
        enabled: 'some',
        allowedFilters: ['f'],
        hidden: true,
        canAddFilters: true,
      },
      parameterInteractivity: { enabled: true },
    };
    const settings = { resources, options, properties: ['seats'] };
    await site.put('lightdash-all', { ...integrations.lightdash, settings });
    for (const resource of resources) {
      const { json } = await site.mint({
        integration: 'lightdash-all',
        user_group_id: acme.user_group_id,
        resource,
      });
      const claims = decodeJwt(json.embed_token.token);
      // Zod drops unknown members.
      assert.deepEqual(EmbedJwtSchema.parse(claims), claims);
    }
  });

  it('jsonwebtoken verifies an ES256 token with the PEM', async () => {
    const pem = await pemOf('ES256');
    assert.ok(await importSPKI(pem, 'ES256'));
    const options = { algorithms: ['ES256' as const], audience: 'cube', issuer };
    const claims = jsonwebtoken.verify(await site.token('jwt'), pem, options) as { sub?: string };
    assert.equal(claims.sub, acme.user_group_id);
    assert.throws(() => jsonwebtoken.verify('e30.e30.e30', pem, options));
  });

  it('PyJWT verifies tokens as Superset does, and by the published keys', {
    skip: python === undefined && 'PyJWT is not installed',
  }, async () => {
    const guest = await site.token('superset', { viewer: 'user-31' });
    const hs256 = { key: SECRET, algorithm: 'HS256', audience: 'superset' };
    const rs256 = { key: await pemOf('RS256'), algorithm: 'RS256', audience: 'superset' };
    const [accepted, foreign, otherAudience, signed, confused, es256] = await decodeWithPyJwt([
      { token: guest, ...hs256 },
      { token: guest, ...hs256, key: `${SECRET}x` },
      { token: guest, ...hs256, audience: 'other' },
      { token: await site.token('superset-rs256'), ...rs256 },
      { token: guest, ...rs256 },
      { token: await site.token('jwt'), key: jwksUrl, algorithm: 'ES256', audience: 'cube' },
    ]);
    const { user, resources, rls_rules, type } = accepted!.claims!;
    assert.deepEqual(user, { username: acme.user_group_id, first_name: 'user-31' });
    assert.deepEqual(resources, integrations.superset.settings.resources);
    assert.equal((rls_rules as object[]).length, 2);
    assert.deepEqual([type, signed!.claims!.type], ['guest', 'guest']);
    assert.deepEqual(
      [foreign, otherAudience].map((each) => each!.error),
      ['InvalidSignatureError', 'InvalidAudienceError'],
    );
    assert.ok(confused!.error);
    assert.equal(es256!.claims!.sub, acme.user_group_id);
  });

  it("Cube's API gateway accepts a token by the published keys, and sees the user group", {
    skip: !existsSync(`${CUBE}/node_modules`) && 'run "npm install --ignore-scripts" in examples/cube',
  }, async () => {
    const env = {
      PATH: process.env.PATH,
      ISSUER: issuer,
      JWKS_URL: jwksUrl,
      PORT: '0',
      CUBEJS_TELEMETRY: 'false',
    };
    const cube = spawn(process.execPath, ['server.js'], {
      cwd: CUBE,
      env,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    try {
      const ended = once(cube, 'exit').then(([code]) => assert.fail(`the gateway exited with ${code}`));
      const started = once(createInterface(cube.stdout), 'line') as Promise<[string]>;
      const [url] = await Promise.race([started, ended]);
      ended.catch(() => {});
      const call = async (token?: string) => {
        const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
        const response = await fetch(url, { headers });
        // biome-ignore lint/suspicious/noExplicitAny: the claims of the token, or an error.
        return { status: response.status, json: (await response.json()) as any };
      };
      const token = await site.token('jwt', { viewer: 'user-31' });
      const accepted = await call(token);
      assert.equal(accepted.status, 200, JSON.stringify(accepted.json));
      const { provided_id, mapping, properties } = accepted.json.user_group;
      assert.deepEqual([provided_id, mapping, properties.region], [acme.user_group_id, acme.mapping, 'EMEA']);
      assert.equal(accepted.json.viewer, 'user-31');
      await site.put('other', { type: 'jwt', settings: { audience: 'other' } });
      const [head, body, signature] = token.split('.');
      const altered = `${head}.${body}.${signature!.startsWith('A') ? 'B' : 'A'}${signature!.slice(1)}`;
      for (const refused of [
        undefined,
        altered,
        await site.token('other'),
        await site.token('superset-rs256'),
      ]) {
        assert.equal((await call(refused)).status, 403);
      }
    } finally {
      cube.kill();
      await once(cube, 'exit');
    }
  });
});
