// The console: signing in and out, and what protects a session.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { Sealed } from '../../src/console/session/sealed.ts';
import { generateKeyLine, KeyRing } from '../../src/domain/key-ring.ts';
import { exchangeLate } from '../support/connection/raw-connection.ts';
import { checkMarkup, unescaped } from '../support/console-page.ts';
import { describeOnEachDatabase } from '../support/database.ts';
import { textOfElement } from '../support/html.ts';
import { send, type TestResponse } from '../support/http.ts';
import { TestService } from '../support/service.ts';

const HOUR_MS = 3_600_000;
const HOME = '/console/user-groups';

type Headers = Record<string, string>;

describeOnEachDatabase('A session of the console', (database) => {
  const keys = generateKeyLine();
  const service = TestService.of(database, {
    env: { UGS_FAILED_AUTHENTICATION_LIMIT_PER_MINUTE: '0', UGS_TOKEN_KEYS: keys.reveal() },
  });

  function get(path: string, headers: Headers = {}): Promise<TestResponse> {
    return send(service.url, { path, headers: { accept: 'text/html', ...headers } });
  }

  function post(path: string, fields: Headers, headers: Headers = {}): Promise<TestResponse> {
    return send(service.url, {
      method: 'POST',
      path,
      body: new URLSearchParams(fields).toString(),
      headers: { 'content-type': 'application/x-www-form-urlencoded', origin: service.url, ...headers },
    });
  }

  function signIn(
    apiToken = service.token,
    fields: Headers = {},
    headers: Headers = {},
  ): Promise<TestResponse> {
    return post('/console/sign-in', { api_token: apiToken, ...fields }, headers);
  }

  /** Returns the `Cookie` header of a new session. */
  async function newSession(apiToken = service.token): Promise<Headers> {
    return { cookie: cookieOf(await signIn(apiToken)) };
  }

  async function csrfTokenOf(session: Headers): Promise<string> {
    return /name="csrf" value="([^"]+)"/.exec((await get(HOME, session)).text)![1]!;
  }

  async function isSignedIn(session: Headers): Promise<boolean> {
    return (await get(HOME, { ...SAME_ORIGIN, ...session })).status === 200;
  }

  it('is where browsers are sent from the root, and nobody else', async () => {
    const browser = await get('/');
    assert.deepEqual([browser.status, browser.headers.location], [303, '/console']);
    const other = await send(service.url, { path: '/', headers: { accept: 'application/json' } });
    assert.equal(other.json.code, 'not_found');
  });

  it('begins on the sign-in page, which leads back to the requested page', async () => {
    const asked = await get(`${HOME}?search=a%26b`, SAME_ORIGIN);
    assert.equal(asked.status, 303);
    const page = await get(asked.headers.location!);
    assert.match(page.text, /An administrator creates one in this console, under “API tokens”/);
    const next = /name="next" value="([^"]+)"/.exec(page.text)![1]!.replaceAll('&#61;', '=');
    assert.equal(next, `${HOME}?search=a%26b`);
    const response = await signIn(service.token, { next });
    const { location } = response.headers;
    assert.deepEqual(
      [response.status, location],
      [303, `/console/sign-in/done?${new URLSearchParams({ next })}`],
    );
    const done = await get(location!, { cookie: cookieOf(response) });
    assert.deepEqual([done.status, done.headers.location], [303, next]);
  });

  it('says why there is none in a browser that does not keep it, and leads on after the next attempt', async () => {
    const next = `${HOME}/acme`;
    const { headers } = await signIn(service.token, { next });
    const page = await get(headers.location!);
    checkMarkup(page);
    assert.equal(page.status, 401);
    assert.match(page.text, /this browser has not kept the session\. Allow cookies/);
    assert.equal(unescaped(/name="next" value="([^"]+)"/.exec(page.text)![1]!), next);
  });

  it('continues at the target of a link from another site, after one reload', async () => {
    const path = `${HOME}/acme?a=%22%3E%3Cscript%3E`;
    for (const headers of [{ 'sec-fetch-site': 'cross-site' }, {}] as Headers[]) {
      const linked = await get(path, headers);
      checkMarkup(linked);
      const target = reloadOf(linked);
      assert.equal(target, `/console/sign-in?next=${encodeURIComponent(path)}`);
      // The reload comes from this site, so the browser sends the session with it.
      const back = await get(target, { ...SAME_ORIGIN, ...(await newSession()) });
      assert.deepEqual([back.status, back.headers.location], [303, path]);
      // Without a session, the sign-in page does not reload again.
      const page = await get(target, headers);
      assert.equal(reloadOf(page), undefined);
      assert.match(page.text, /name="api_token"/);
    }
  });

  it('does not reload forever with an API token that was revoked', async () => {
    const { id, token } = await service.apiToken({ permission: 'admin' });
    const session = await newSession(token);
    await service.revokeApiToken(id);
    const page = await get(`/console/sign-in?next=${HOME}`, session);
    assert.equal(page.status, 200);
    assert.match(page.text, /name="api_token"/);
  });

  it('requires an API token with which people may read', async () => {
    for (const permission of ['admin', 'read-write', 'read-only'] as const) {
      const { token } = await service.apiToken({ permission });
      assert.equal((await signIn(token)).status, 303, permission);
      for (const pasted of [
        ` ${token}\n`,
        `"${token}"`,
        `Token ${token}`,
        `${token.slice(0, 9)}\u200b ${token.slice(9)}`,
      ])
        assert.equal((await signIn(pasted)).status, 303, pasted);
    }
    for (const permission of ['resolve', 'embed'] as const) {
      const { token } = await service.apiToken({ permission });
      const response = await signIn(token);
      assert.equal(response.status, 403, permission);
      assert.match(response.text, /requires read-only, read-write or admin/);
      assert.equal(response.headers['set-cookie'], undefined);
    }
    for (const token of ['', 'x', `${service.token.slice(0, -1)}-x`, service.token.slice(0, -1)]) {
      const response = await signIn(token);
      assert.equal(response.status, 401);
      assert.match(response.text, /is not valid/);
      assert.ok(!response.text.includes('value="x"'));
    }
  });

  it('is in a cookie that scripts, other sites and plain HTTP behind HTTPS do not get', async () => {
    const [plain] = (await signIn()).headers['set-cookie']!;
    assert.match(
      plain!,
      /^user_group_console=[\w./-]+; Path=\/console; Max-Age=43200; HttpOnly; SameSite=Strict$/,
    );
    assert.ok(!plain!.includes(service.token.slice(9, 25)));
    const [secure] = (await signIn(service.token, {}, { 'x-forwarded-proto': 'https' })).headers[
      'set-cookie'
    ]!;
    assert.match(
      secure!,
      /^__Host-user_group_console=[\w./-]+; Path=\/; Secure; Max-Age=43200; HttpOnly; SameSite=Strict$/,
    );
    assert.ok(await isSignedIn({ cookie: secure!.split(';')[0]! }));
  });

  it('is secure if the first of several proxies was called over HTTPS', async () => {
    const schemes = { 'https, http': true, 'https,https': true, 'http, https': false, httpsx: false };
    for (const [scheme, isSecure] of Object.entries(schemes)) {
      const { headers } = await signIn(service.token, {}, { 'x-forwarded-proto': scheme });
      assert.equal(headers['set-cookie']![0]!.includes('; Secure;'), isSecure, scheme);
    }
  });

  it('is accepted over HTTPS only in the cookie that neither another host nor plain HTTP can plant', async () => {
    const { cookie = '' } = await newSession();
    const value = cookie.slice(cookie.indexOf('=') + 1);
    const https = { 'x-forwarded-proto': 'https' };
    assert.ok(await isSignedIn({ ...https, cookie: `__Host-user_group_console=${value}` }));
    for (const planted of [
      `user_group_console=${value}`,
      `__host-user_group_console=${value}`,
      `__Host-user_group_console=; user_group_console=${value}`,
      // Any host can plant this cookie: its name starts with a byte that is white space in Latin-1, not with
      // `__Host-`.
      `\u00a0__Host-user_group_console=${value}`,
    ]) {
      assert.ok(!(await isSignedIn({ ...https, cookie: planted })), planted);
      const signInPage = await get('/console/sign-in', { ...https, cookie: planted });
      assert.equal(signInPage.status, 200, planted);
    }
    await using secureService = await TestService.start(database, {
      env: { UGS_PUBLIC_URL: 'https://groups.example' },
    });
    const headers = { 'content-type': 'application/x-www-form-urlencoded', origin: secureService.url };
    const body = new URLSearchParams({ api_token: secureService.token }).toString();
    const path = '/console/sign-in';
    const signedIn = await send(secureService.url, { method: 'POST', path, body, headers });
    const secure = cookieOf(signedIn);
    const statusWith = async (sent: string) =>
      (await send(secureService.url, { path: HOME, headers: { ...SAME_ORIGIN, cookie: sent } })).status;
    assert.equal(await statusWith(secure), 200);
    assert.equal(await statusWith(secure.replace('__Host-', '')), 303);
  });

  it('is new after every sign-in, so that a planted one is of no use', async () => {
    const planted = await newSession();
    const [cookie] = (await signIn(service.token, {}, planted)).headers['set-cookie']!;
    assert.notEqual(cookie!.split(';')[0], planted.cookie);
  });

  it('does not exist with a cookie that this service has not encrypted for it', async () => {
    const { cookie } = await newSession();
    const [name, value = ''] = cookie!.split('=');
    const [keyId, ciphertext = ''] = value.split('.');
    const middle = ciphertext.length >> 1;
    const flipped = ciphertext[middle] === 'A' ? 'B' : 'A';
    for (const forged of [
      '',
      'x',
      `${keyId}.`,
      `${keyId}.${ciphertext.slice(0, 20)}`,
      `00000000.${ciphertext}`,
      `${keyId}.${ciphertext.slice(0, middle)}${flipped}${ciphertext.slice(middle + 1)}`,
    ]) {
      const response = await get(HOME, { ...SAME_ORIGIN, cookie: `${name}=${forged}` });
      assert.equal(response.status, 303, forged);
    }
  });

  it('does not exist with a cookie of an earlier version, whose forms had other CSRF tokens', async () => {
    for (const csrfToken of ['ySbEqX3mZkW0u1o7RGfJ2w', 'ySbEqX3mZkW0u1o7RGfJ2w.1.Customer']) {
      const value = new Sealed('console').textOf(KeyRing.parse(keys), [service.token, csrfToken, Date.now()]);
      assert.ok(!(await isSignedIn({ cookie: `user_group_console=${value}` })), csrfToken);
    }
  });

  it('ends after twelve hours', async () => {
    const session = await newSession();
    service.clockAheadMs = 12 * HOUR_MS - 1_000;
    assert.ok(await isSignedIn(session));
    service.clockAheadMs = 12 * HOUR_MS + 1_000;
    assert.ok(!(await isSignedIn(session)));
    service.clockAheadMs = 0;
  });

  it('does not end in a process whose clock is some seconds behind, unlike one of a clock that was ahead', async () => {
    const session = await newSession();
    service.clockAheadMs = -5_000;
    assert.ok(await isSignedIn(session));
    service.clockAheadMs = -HOUR_MS;
    assert.ok(!(await isSignedIn(session)));
    service.clockAheadMs = 0;
  });

  it('changes nothing if its API token was revoked long before the end of a form arrives', async () => {
    await service.get({ user_group_id: 'slow', name: 'Slow' });
    const { id, token } = await service.apiToken();
    const session = await newSession(token);
    const head = [
      'POST /console/user-groups/slow/rename HTTP/1.1',
      `Cookie: ${session.cookie}`,
      `Origin: ${service.url}`,
      'Content-Type: application/x-www-form-urlencoded',
    ];
    const fields = { csrf: await csrfTokenOf(session), user_group_id: 'renamed' };
    const body = new URLSearchParams(fields).toString();
    const { status, text } = await exchangeLate(service, { head, body }, () => service.revokeApiToken(id));
    assert.equal(status, 401);
    assert.match(text, /Your session has ended, so nothing was done/);
    assert.doesNotMatch(text, /Signed in with/);
    assert.equal((await service.get({ user_group_id: 'slow' })).status, 200);
  });

  it('ends with its API token, at the next click', async () => {
    const { id, token } = await service.apiToken({ permission: 'admin' });
    const session = await newSession(token);
    assert.ok(await isSignedIn(session));
    await service.revokeApiToken(id);
    const response = await get(HOME, { ...SAME_ORIGIN, ...session });
    assert.equal(response.status, 303);
    assert.match(response.headers['set-cookie']![0]!, /^user_group_console=; .*Max-Age=0/);
  });

  it('leads from the live search to the sign-in page if it has ended', async () => {
    const response = await get(`${HOME}?search=a`, { 'hx-request': 'true' });
    assert.equal(response.status, 204);
    const path = `/console/sign-in?next=${encodeURIComponent(`${HOME}?search=a`)}`;
    assert.equal(response.headers['hx-redirect'], path);
  });

  it('ends with a sign-out', async () => {
    const session = await newSession();
    const response = await post('/console/sign-out', { csrf: await csrfTokenOf(session) }, session);
    assert.deepEqual([response.status, response.headers.location], [303, '/console/sign-in']);
    assert.match(response.headers['set-cookie']![0]!, /Max-Age=0/);
  });

  it('is not enough for a form of another site', async () => {
    const session = await newSession();
    const csrf = await csrfTokenOf(session);
    const other = await csrfTokenOf(await newSession());
    const { origin: _, ...withoutOrigin } = { ...session, origin: '' };
    for (const [fields, headers] of [
      [{}, session],
      [{ csrf: '' }, session],
      [{ csrf: other }, session],
      [{ csrf: `${csrf} ` }, session],
      [{ csrf }, { ...session, origin: 'https://evil.example' }],
      [{ csrf }, { ...session, origin: 'null' }],
    ] as [Headers, Headers][]) {
      const response = await post('/console/sign-out', fields, headers);
      assert.equal(response.status, 403, JSON.stringify([Object.keys(fields), headers.origin]));
      assert.equal(response.headers['set-cookie'], undefined);
    }
    const asked = await send(service.url, {
      method: 'POST',
      path: '/console/sign-out',
      body: new URLSearchParams({ csrf }).toString(),
      headers: { 'content-type': 'application/x-www-form-urlencoded', ...withoutOrigin },
    });
    assert.equal(asked.status, 303, 'its own form, from a browser that sends no origin');
  });

  it('cannot be started by another site', async () => {
    for (const headers of [
      { origin: 'https://evil.example' },
      { origin: service.url.replace('//', '//evil-') },
      { origin: 'null' },
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
    ] as Headers[])
      assert.equal((await signIn(service.token, {}, headers)).status, 403, JSON.stringify(headers));
  });

  it('names the cause of a refused form, if a proxy replaces the Host header', async () => {
    const refused = await signIn(
      service.token,
      {},
      { origin: 'https://groups.example.com', host: 'backend' },
    );
    assert.equal(refused.status, 403);
    assert.match(textOfElement(refused.text, 'main'), /a proxy has replaced the Host header/);
  });

  it('never leads to another site', async () => {
    for (const next of [
      'https://evil.example/console/x',
      '//evil.example/console/x',
      '/\\evil.example/console/x',
      '\\\\evil.example',
      'javascript:alert(1)',
      '/console/../../evil',
      '/v1/user-groups',
      '/console/sign-out',
      '',
    ]) {
      const { headers } = await signIn(service.token, { next });
      assert.equal(headers.location, `/console/sign-in/done?${new URLSearchParams({ next: HOME })}`, next);
      const done = await get(`/console/sign-in/done?${new URLSearchParams({ next })}`, await newSession());
      assert.equal(done.headers.location, HOME, next);
    }
  });

  it('is not accepted by the API', async () => {
    const response = await send(service.url, { path: '/v1/user-groups', headers: await newSession() });
    assert.equal(response.json.code, 'unauthenticated');
  });

  it('protects every page from frames, inline scripts and caches', async () => {
    const session = await newSession();
    const problem = await get('/console/user-groups/x', session);
    assertProblemPage(problem);
    const others = [await get('/console/sign-in'), await get(HOME, session)];
    for (const { headers } of others) {
      const policy = String(headers['content-security-policy']);
      assert.match(policy, /^default-src 'none'; script-src 'self'; style-src 'self';/);
    }
    for (const { headers } of [...others, problem]) {
      const policy = String(headers['content-security-policy']);
      assert.match(policy, /^default-src 'none'; script-src 'self'; style-src '(?:self|sha256-[^' ]{44})';/);
      assert.doesNotMatch(policy, /unsafe/);
      assert.match(policy, /form-action 'self'; frame-ancestors 'none'/);
      assert.equal(headers['x-frame-options'], 'DENY');
      assert.equal(headers['cache-control'], 'no-store');
      assert.equal(headers['x-content-type-options'], 'nosniff');
    }
  });

  it('shows only the workspace and environment of its API token, and which environment it is', async () => {
    const { token: testing } = await service.apiToken({ environment: 'Testing' });
    const { token: foreign } = await service.apiToken({ workspaceName: 'another' });
    await service.get({ user_group_id: 'own', name: 'Own' });
    await service.get({ user_group_id: 'test', name: 'Of tests' }, { token: testing });
    const own = await newSession();
    assert.match((await get(HOME, own)).text, />own</);
    assert.doesNotMatch((await get(HOME, own)).text, />test<|class="testing"/);
    const testPage = await get(HOME, await newSession(testing));
    assert.match(testPage.text, /class="testing"/);
    assert.match(testPage.text, /class="environment">Testing</);
    assert.match(testPage.text, />test</);
    assert.doesNotMatch(testPage.text, />own</);
    for (const token of [testing, foreign])
      assert.equal((await get('/console/user-groups/own', await newSession(token))).status, 404);
  });

  it('does not search for a token that was typed into the search, nor repeats it', async () => {
    const { json } = await service.get({ user_group_id: 'own', name: 'Own' });
    const session = await newSession();
    const { token } = json.user_group;
    const embedToken = 'eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJvd24ifQ.c2lnbmF0dXJlLXNpZ25hdHVyZQ';
    for (const text of [token, ` ${token}\n`, token.slice(0, -1), service.token, embedToken])
      for (const path of [`${HOME}?search=`, `${HOME}?data_source=`, '/console/events?target_id=']) {
        const response = await get(path + encodeURIComponent(text), session);
        assert.equal(response.status, 303, path);
        assert.equal(response.headers.location, `${HOME}?token_in_search=1`);
      }
    assert.equal((await get(`${HOME}?search=eyJ&data_source=uga_7`, session)).status, 200);
  });

  it('does not repeat a token that was typed into a path', async () => {
    const { json } = await service.get({ user_group_id: 'own', name: 'Own' });
    const session = await newSession();
    for (const token of [json.user_group.token as string, service.token])
      for (const path of [
        `${HOME}/${token}`,
        `${HOME}/${token}/edit`,
        `${HOME}/${token}/events`,
        `${HOME}/${token}/nothing`,
        `/console/catalogue/schemas/${token}/edit`,
        `/console/${token}/nothing`,
      ]) {
        const signIn = `/console/sign-in?next=${encodeURIComponent(path)}`;
        for (const page of [await get(path, session), await get(signIn)])
          assert.ok(!page.text.includes(token.slice(4, 24)), path);
      }
  });

  it('explains every refusal on a page, wherever a browser gets it', async () => {
    const session = await newSession();
    const evil = { origin: 'https://evil.example' };
    const form = { 'content-type': 'text/plain' };
    for (const [response, status] of [
      [await signIn(service.token, {}, evil), 403],
      [await signIn(service.token, {}, { 'sec-fetch-site': 'cross-site' }), 403],
      [await signIn(service.token, {}, form), 415],
      [await get('/console/sign-in', evil), 403],
      [await get('/console', evil), 403],
      [await post('/console/sign-out', {}, session), 403],
      [await get('/console/user-groups/nobody', session), 404],
      [await get('/console/no/such/page'), 404],
      [await get('/console/user-groups/%ff', session), 400],
      [await post('/console/user-groups/x', {}, session), 405],
      [await get('/console/assets/x/y'), 404],
    ] as const) {
      assert.equal(response.status, status, response.text);
      assertProblemPage(response);
    }
    for (const path of ['/consoles', '/v1/console'])
      assert.equal(
        (await get(path)).headers['content-type'],
        'application/problem+json; charset=utf-8',
        path,
      );
  });

  it('leads from the live search to the page of a problem', async () => {
    const path = `${HOME}?cursor=x`;
    const session = await newSession();
    const response = await get(path, { ...session, 'hx-request': 'true' });
    assert.deepEqual([response.status, response.headers['hx-redirect']], [400, path]);
    assert.equal((await get(path, session)).headers['hx-redirect'], undefined);
  });

  it('limits attempts to sign in', async () => {
    const limited = await TestService.start(database, {
      env: { UGS_FAILED_AUTHENTICATION_LIMIT_PER_MINUTE: '3' },
    });
    const responses: TestResponse[] = [];
    for (let attempt = 0; attempt < 5; attempt++) {
      const response = await send(limited.url, {
        method: 'POST',
        path: '/console/sign-in',
        body: 'api_token=x',
        headers: { 'content-type': 'application/x-www-form-urlencoded', origin: limited.url },
      });
      responses.push(response);
    }
    await limited.end();
    const statuses = responses.map(({ status }) => status);
    assert.deepEqual(statuses.slice(0, 3), [401, 401, 401]);
    assert.equal(statuses.at(-1), 429);
    assertProblemPage(responses.at(-1)!);
    const seconds = responses.at(-1)!.headers['retry-after']!;
    assert.match(seconds, /^[1-9]\d?$/);
    assert.ok(responses.at(-1)!.text.includes(`Try again in ${seconds} s.`), responses.at(-1)!.text);
  });
});

const SAME_ORIGIN: Headers = { 'sec-fetch-site': 'same-origin' };

/** Returns the target of the page's reload. */
function reloadOf({ text }: TestResponse): string | undefined {
  const content = /<meta http-equiv="refresh" content="0; url&#61;([^"]+)"|url=([^"]+)"/.exec(text);
  return content ? unescaped(content[1] ?? content[2]!) : undefined;
}

/** Asserts that a problem page has the same protection as every other page. */
function assertProblemPage(page: TestResponse): void {
  const { headers, text } = page;
  checkMarkup(page);
  assert.equal(headers['content-type'], 'text/html; charset=utf-8', text);
  assert.match(String(headers['content-security-policy']), /^default-src 'none';.* frame-ancestors 'none'$/);
  assert.match(textOfElement(text, 'main'), new RegExp(`Request ${headers['x-request-id']}`));
}

function cookieOf({ headers, text }: TestResponse): string {
  const [cookie] = headers['set-cookie'] ?? [];
  assert.ok(cookie !== undefined, text);
  return cookie.split(';')[0]!;
}
