// The payload of an embed token, built from an integration and a user group, and the values that no token may
// contain.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  allowedResources,
  checkLength,
  embedTokenPayload,
  embedTokenType,
  integrationBody,
  integrationSignature,
  selectResource,
} from '../../src/domain/embed-token/embed-token.ts';
import { MAX_RESOURCES } from '../../src/domain/embed-token/embed-token-type.ts';
import { GroupValues } from '../../src/domain/embed-token/template.ts';
import type { Integration } from '../../src/domain/integration.ts';
import { jsonText } from '../../src/domain/json/json-tree.ts';
import type { JsonText } from '../../src/domain/json/strict-json.ts';
import type { UserGroup } from '../../src/domain/user-group/user-group.ts';
import { cpuMs } from '../../src/system/cpu-time.ts';
import { problemOf } from '../support/domain/problem.ts';

const SECRET = 'a-secret-of-a-tool';
const base = {
  jwt: { type: 'jwt', settings: { audience: 'cube', properties: ['region', 'plan', 'list'] } },
  metabase: {
    type: 'metabase',
    settings: {
      url: 'https://m.example.com//',
      resources: [{ dashboard: 7 }, { question: 'abc' }],
      properties: ['p'],
    },
    claims: { p: { property: 'p' } },
  },
  superset: {
    type: 'superset',
    settings: {
      audience: 'superset',
      resources: [{ type: 'dashboard', id: 'd' }],
      row_level_security: [{ dataset: 12, column: 'customer', value: { property: 'p' } }],
      properties: ['p'],
    },
  },
  lightdash: {
    type: 'lightdash',
    settings: { resources: [{ dashboardSlug: 'revenue' }], properties: ['p'] },
    claims: { p: { property: 'p' } },
  },
};
type Type = keyof typeof base;

const parse = (body: object) =>
  integrationBody.read(Buffer.from(JSON.stringify({ ttl_seconds: 300, ...body })));
const integrationOf = (type: Type, changes: object = {}): Integration => {
  const { settings, ...rest } = { ...base[type], ...changes };
  return parse({ ...rest, settings: { ...base[type].settings, ...settings } }).integration;
};
const settingsOf = (type: Type, settings: object, changes: object = {}) =>
  integrationOf(type, { ...changes, settings });

const acme = {
  providedId: 'acme',
  name: 'Acme',
  teamId: 5,
  environment: 'Customer',
  version: 3,
  mapping: '{"40":213}' as JsonText,
  properties: '{"region":"EMEA","p":1.10,"list":[1,2]}' as JsonText,
} as UserGroup;

function payloadText(
  integration: Integration,
  changes: Partial<UserGroup> = {},
  viewer: string | null = null,
) {
  const values = new GroupValues({ ...acme, ...changes });
  return embedTokenPayload({
    integration,
    values,
    narrow: null,
    resource: allowedResources(integration, values)[0] ?? null,
    viewer,
    issuer: 'https://issuer.example.com',
    issuedAt: 100,
    expiresAt: 400,
  });
}
const payload = (...args: Parameters<typeof payloadText>) => JSON.parse(payloadText(...args));

/** Returns a group whose property `p` has this value. */
const withValue = (value: unknown) => ({ properties: JSON.stringify({ p: value }) as JsonText });

const errorsOf = (run: () => unknown) => problemOf(run).errors.map(({ pointer }) => pointer);
function assertErrors(run: () => unknown, pointers: readonly string[], what = ''): void {
  assert.deepEqual([what, ...errorsOf(run)], [what, ...pointers]);
}

describe('An integration', () => {
  it('is parsed with the defaults of its fields', () => {
    const { integration, text, secret } = parse({ type: 'jwt', settings: { audience: 'a' } });
    assert.deepEqual([integration.type, integration.ttlSeconds, integration.claims], ['jwt', 300, []]);
    assert.equal(integration.isUnrestricted, false);
    assert.equal(secret, null);
    assert.equal(
      text,
      '{"type":"jwt","ttl_seconds":300,"settings":{"audience":"a"},"claims":{},"unrestricted":false}',
    );
  });

  it('has a secret only if its tokens are signed with one', () => {
    assert.equal(parse({ ...base.metabase, secret: SECRET }).secret?.reveal(), SECRET);
    assertErrors(() => parse({ ...base.jwt, secret: SECRET }), ['/secret']);
    const rs256 = { ...base.superset, settings: { ...base.superset.settings, algorithm: 'RS256' } };
    assertErrors(() => parse({ ...rs256, secret: SECRET }), ['/secret']);
  });

  it('names the key that signs its tokens', () => {
    assert.equal(integrationSignature(integrationOf('jwt')), 'ES256');
    assert.equal(integrationSignature(settingsOf('jwt', { algorithm: 'RS256' })), 'RS256');
    for (const type of ['metabase', 'lightdash', 'superset'] as const)
      assert.equal(integrationSignature(integrationOf(type)), 'secret');
    assert.equal(integrationSignature(settingsOf('superset', { algorithm: 'HS256' })), 'secret');
    assert.equal(integrationSignature(settingsOf('superset', { algorithm: 'RS256' })), 'RS256');
  });

  it('uses only properties that its settings list', () => {
    const claims = { a: { property: 'p' }, b: { property: 'other' }, c: { mapping: 'other' } };
    assertErrors(() => integrationOf('metabase', { claims }), ['/claims/b/property']);
    const rules = [{ dataset: 1, column: 'a', value: { property: 'other' } }];
    assertErrors(
      () => settingsOf('superset', { row_level_security: rules }),
      ['/settings/row_level_security/0/value/property'],
    );
    assertErrors(
      () => parse({ ...base.metabase, settings: { ...base.metabase.settings, properties: undefined } }),
      ['/claims/p/property'],
    );
  });

  it('has no empty constant', () => {
    for (const constant of [null, '', [], {}, [''], [[null]], ['a', {}]]) {
      const claims = { p: { property: 'p' }, c: { constant } };
      assertErrors(() => integrationOf('metabase', { claims }), ['/claims/c/constant']);
    }
    for (const constant of [0, false, 'a', ['a'], [0], { a: null }]) {
      const claims = { p: { property: 'p' }, c: { constant } };
      assert.equal(integrationOf('metabase', { claims }).claims.length, 2);
    }
  });

  it('must say so if its tokens do not depend on the user group', () => {
    for (const claims of [{}, { c: { constant: 1 } }]) {
      assertErrors(() => integrationOf('metabase', { claims }), ['/unrestricted']);
      assert.equal(integrationOf('metabase', { claims, unrestricted: true }).isUnrestricted, true);
    }
    for (const row_level_security of [[], undefined])
      assertErrors(() => settingsOf('superset', { row_level_security }), ['/unrestricted']);
    assertErrors(() => integrationOf('lightdash', { claims: {} }), ['/unrestricted']);
    const open = settingsOf('superset', { row_level_security: undefined }, { unrestricted: true });
    assert.deepEqual(payload(open).rls_rules, []);
    assert.equal(integrationOf('jwt').isUnrestricted, false);
    assert.equal(integrationOf('metabase', { claims: { c: { field: 'name' } } }).isUnrestricted, false);
  });

  it('has valid settings of its type', () => {
    assertErrors(() => settingsOf('jwt', { audience: '' }), ['/settings/audience']);
    assertErrors(() => parse({ type: 'jwt' }), ['/settings/audience']);
    assertErrors(() => settingsOf('metabase', { url: 'm.example.com' }), ['/settings/url']);
    assertErrors(() => settingsOf('lightdash', { resources: [] }), ['/settings/resources']);
    assertErrors(() => settingsOf('superset', { other: 1 }), ['/settings/other']);
  });
});

describe('The settings of an integration', () => {
  const dashboards = (count: number) =>
    Array.from({ length: count }, (_, index) => ({ dashboard: index + 1 }));
  const violations: [Type, settings: object, pointer: string][] = [
    ['jwt', { algorithm: 'HS512' }, '/algorithm'],
    ['jwt', { large_numbers: 'round' }, '/large_numbers'],
    ['jwt', { flat: 1 }, '/flat'],
    ['jwt', { audience: [] }, '/audience'],
    ['jwt', { audience: ['a', ''] }, '/audience/1'],
    ['jwt', { audience: Array(11).fill('a') }, '/audience'],
    ['jwt', { properties: ['a', 'a'] }, '/properties'],
    ['jwt', { properties: [''] }, '/properties/0'],
    ['jwt', { properties: [1] }, '/properties/0'],
    ['jwt', { header: { kid: 'a' } }, '/header'],
    ['jwt', { header: { alg: 'none' } }, '/header/alg'],
    ['jwt', { other: 1 }, '/other'],
    ['metabase', { url: 'https://m.example.com/?a' }, '/url'],
    ['metabase', { url: 'https://m.example.com/#a' }, '/url'],
    ['metabase', { url: `https://m.example.com/${'a'.repeat(1_000)}` }, '/url'],
    ['metabase', { url: undefined }, '/url'],
    ['metabase', { resources: undefined }, '/resources'],
    ['metabase', { resources: dashboards(101) }, '/resources'],
    ['metabase', { resources: [{ dashboard: 1 }, { dashboard: 1 }] }, '/resources'],
    ['metabase', { resources: [{}] }, '/resources/0'],
    ['metabase', { resources: [{ dashboard: 1, question: 1 }] }, '/resources/0'],
    ['metabase', { resources: [{ dashboard: 0 }] }, '/resources/0/dashboard'],
    ['metabase', { resources: [{ question: '' }] }, '/resources/0/question'],
    ['metabase', { resources: [{ other: 1 }] }, '/resources/0/other'],
    ['metabase', { resources: [1] }, '/resources/0'],
    ['metabase', { other: 1 }, '/other'],
    ['lightdash', { resources: undefined }, '/resources'],
    ['lightdash', { resources: [{}] }, '/resources/0'],
    ['lightdash', { resources: [1] }, '/resources/0'],
    ['lightdash', { resources: [{ dashboardUuid: 'a', dashboardSlug: 'b' }] }, '/resources/0'],
    ['lightdash', { resources: [{ dashboardUuid: '' }] }, '/resources/0/dashboardUuid'],
    ['lightdash', { resources: [{ dashboard: 'a' }] }, '/resources/0/dashboard'],
    ['lightdash', { options: 1 }, '/options'],
    ['lightdash', { options: { canExportCsv: 1 } }, '/options/canExportCsv'],
    ['lightdash', { options: { canDelete: true } }, '/options/canDelete'],
    ['lightdash', { other: 1 }, '/other'],
    ['superset', { algorithm: 'ES256' }, '/algorithm'],
    ['superset', { algorithm: 1 }, '/algorithm'],
    ['superset', { audience: '' }, '/audience'],
    ['superset', { audience: undefined }, '/audience'],
    ['superset', { resources: undefined }, '/resources'],
    ['superset', { resources: [1] }, '/resources/0'],
    ['superset', { resources: [{ type: 'chart', id: 'a' }] }, '/resources/0/type'],
    ['superset', { resources: [{ type: 'dashboard', id: '' }] }, '/resources/0/id'],
    ['superset', { resources: [{ type: 'dashboard' }] }, '/resources/0/id'],
    ['superset', { resources: [{ id: 'a' }] }, '/resources/0/type'],
    ['superset', { resources: [{ type: 'dashboard', id: 'a', other: 1 }] }, '/resources/0/other'],
    ['superset', { row_level_security: 1 }, '/row_level_security'],
    ['superset', { row_level_security: [1] }, '/row_level_security/0'],
    ['superset', { row_level_security: [{ dataset: 1, column: 'a' }] }, '/row_level_security/0/value'],
    [
      'superset',
      { row_level_security: [{ dataset: 1, value: { field: 'name' } }] },
      '/row_level_security/0/column',
    ],
    ['superset', { string_escapes: 'double' }, '/string_escapes'],
    ['superset', { other: 1 }, '/other'],
  ];
  for (const [type, settings, pointer] of violations) {
    it(`of ${type} are wrong at ${pointer}: ${JSON.stringify(settings).slice(0, 80)}`, () => {
      assert.ok(errorsOf(() => settingsOf(type, settings)).includes(`/settings${pointer}`));
    });
  }

  it('of a rule of Superset name a column and where its value comes from', () => {
    const rule = { dataset: 1, column: 'a', value: { field: 'name' } };
    const wrong: [change: object, pointer: string][] = [
      [{ dataset: 0 }, 'dataset'],
      [{ dataset: 'a' }, 'dataset'],
      [{ dataset: undefined, all_datasets: false }, 'all_datasets'],
      [{ column: 'a b' }, 'column'],
      [{ column: 1 }, 'column'],
      [{ type: 'date' }, 'type'],
      [{ type: 1 }, 'type'],
      [{ value: {} }, 'value'],
      [{ value: { field: 'name', property: 'p' } }, 'value'],
      [{ value: { field: 'version' } }, 'value/field'],
      [{ value: { property: '' } }, 'value/property'],
      [{ other: 1 }, 'other'],
    ];
    for (const [change, pointer] of wrong)
      assert.ok(
        errorsOf(() => settingsOf('superset', { row_level_security: [{ ...rule, ...change }] })).includes(
          `/settings/row_level_security/0/${pointer}`,
        ),
        JSON.stringify(change),
      );
  });
});

describe('The resource of a token', () => {
  const values = new GroupValues(acme);

  it('is the only one, or one of several that the request names', () => {
    assert.equal(selectResource(integrationOf('lightdash'), null, values), '{"dashboardSlug":"revenue"}');
    const other = jsonText({ dashboardSlug: 'other' });
    assert.match(
      problemOf(() => selectResource(integrationOf('lightdash'), other, values)).message,
      /is not one of/,
    );
    const metabase = integrationOf('metabase');
    assert.deepEqual(allowedResources(metabase, values), ['{"dashboard":7}', '{"question":"abc"}']);
    assert.equal(selectResource(metabase, jsonText({ question: 'abc' }), values), '{"question":"abc"}');
    assert.match(problemOf(() => selectResource(metabase, null, values)).message, /is required/);
    for (const other of [{ question: 7 }, { dashboard: '7' }, {}])
      assert.match(
        problemOf(() => selectResource(metabase, jsonText(other), values)).message,
        /is not one of/,
      );
    const superset = integrationOf('superset');
    assert.equal(
      selectResource(superset, jsonText({ id: 'd', type: 'dashboard' }), values),
      '{"type":"dashboard","id":"d"}',
    );
  });

  it('is one of those in a property of the user group, if the integration says so', () => {
    const metabase = settingsOf('metabase', {
      resources: { property: 'boards' },
      properties: ['boards', 'p'],
    });
    const withBoards = (boards: unknown) =>
      new GroupValues({ ...acme, properties: jsonText({ boards, p: 1 }) });
    const some = withBoards([{ dashboard: 7 }, { question: 'abc' }]);
    assert.deepEqual(allowedResources(metabase, some), ['{"dashboard":7}', '{"question":"abc"}']);
    assert.equal(selectResource(metabase, jsonText({ question: 'abc' }), some), '{"question":"abc"}');
    assert.match(
      problemOf(() => selectResource(metabase, jsonText({ dashboard: 8 }), some)).message,
      /is not one of/,
    );
    assert.equal(selectResource(metabase, null, withBoards([{ dashboard: 7 }])), '{"dashboard":7}');
    for (const boards of [undefined, null, [], {}, [{ dashboard: 7 }, null], ''])
      assert.equal(problemOf(() => allowedResources(metabase, withBoards(boards))).code, 'claim_missing');
    const many = Array.from({ length: MAX_RESOURCES + 1 }, (_, index) => ({ dashboard: index + 1 }));
    assert.equal(allowedResources(metabase, withBoards(many.slice(1))).length, MAX_RESOURCES);
    for (const boards of [
      '7',
      7,
      { dashboard: 7 },
      [7],
      [{ dashboard: 7, question: 1 }],
      [{ dashboard: '' }],
      many,
    ])
      assert.equal(
        problemOf(() => allowedResources(metabase, withBoards(boards))).code,
        'claim_invalid',
        jsonText(boards),
      );
    assertErrors(
      () => allowedResources(metabase, withBoards([{ dashboard: 7 }, { dashboard: [] }])),
      ['/properties/boards/1/dashboard'],
    );
  });

  it('cannot come from a property that may not leave', () => {
    assertErrors(
      () => settingsOf('metabase', { resources: { property: 'boards' }, properties: ['p'] }),
      ['/settings/resources/property'],
    );
  });

  it('is absent for a JWT', () => {
    const jwt = integrationOf('jwt');
    assert.deepEqual(allowedResources(jwt, values), []);
    assert.equal(selectResource(jwt, null, values), null);
    assertErrors(() => selectResource(jwt, jsonText({}), values), ['/resource']);
  });
});

describe('A JWT', () => {
  it('has the values of the user group, with their digits', () => {
    const integration = integrationOf('jwt', {
      claims: { r: { property: 'region' }, c: { constant: { a: 1 } } },
    });
    const text = payloadText(integration, {}, 'Zoë "7"');
    const { jti, ...claims } = JSON.parse(text);
    assert.match(jti, /^[\w-]{22}$/);
    assert.deepEqual(claims, {
      iss: 'https://issuer.example.com',
      sub: 'acme',
      aud: 'cube',
      iat: 100,
      nbf: 100,
      exp: 400,
      viewer: 'Zoë "7"',
      r: 'EMEA',
      c: { a: 1 },
      user_group: {
        id: 5,
        provided_id: 'acme',
        environment: 'Customer',
        version: 3,
        mapping: { 40: 213 },
        properties: { region: 'EMEA', list: [1, 2] },
      },
    });
  });

  it('has no viewer if the request names none, and no properties if the settings list none', () => {
    const integration = parse({ type: 'jwt', settings: { audience: ['a', 'b'] } }).integration;
    const claims = payload(integration, { mapping: null, properties: null });
    assert.equal('viewer' in claims, false);
    assert.deepEqual(claims.aud, ['a', 'b']);
    assert.deepEqual([claims.user_group.mapping, claims.user_group.properties], [null, {}]);
  });

  it('has a text as its subject, which libraries require', () => {
    const settings = { algorithm: 'HS256', audience: 'a', flat: true, properties: ['p'] };
    const integrationWith = (template: object) =>
      parse({ type: 'jwt', secret: SECRET.repeat(2), settings, claims: { sub: template } }).integration;
    assert.equal(payload(integrationWith({ field: 'team_id' })).sub, '5');
    const integration = integrationWith({ property: 'p' });
    assert.equal(payload(integration).sub, '1.10');
    assert.equal(payload(integration, withValue('Zoë')).sub, 'Zoë');
    for (const value of [true, ['a'], { a: 1 }])
      assertErrors(() => payload(integration, withValue(value)), ['/properties/p']);
  });

  it('has no claim of a caller that the service determines', () => {
    for (const name of ['iss', 'sub', 'aud', 'iat', 'nbf', 'exp', 'jti', 'viewer', 'user_group'])
      assertErrors(
        () => integrationOf('jwt', { claims: { [name]: { field: 'name' } } }),
        [`/claims/${name}`],
      );
    const flat = { settings: { flat: true }, claims: { user_group: { field: 'name' } } };
    assertErrors(() => integrationOf('jwt', flat), ['/claims/user_group']);
  });

  const inTool = (settings: object, claims: object = {}, changes: object = {}) =>
    parse({
      type: 'jwt',
      secret: SECRET.repeat(2),
      settings: { algorithm: 'HS256', audience: 'a', ...settings },
      claims,
      ...changes,
    }).integration;

  it('has no group of the service if it is flat, so that the tool can define that claim too', () => {
    const { jti, ...claims } = payload(inTool({ flat: true }, { user_group: { field: 'name' } }));
    assert.equal(typeof jti, 'string');
    assert.deepEqual(claims, {
      iss: 'https://issuer.example.com',
      sub: 'acme',
      aud: 'a',
      iat: 100,
      nbf: 100,
      exp: 400,
      user_group: 'Acme',
    });
    assert.equal('user_group' in payload(integrationOf('jwt', { settings: { flat: true } })), false);
  });

  it('names the user group in its subject or its claim, or is unrestricted', () => {
    const everybody = { sub: { constant: 'everybody' } };
    for (const integration of [
      inTool({}),
      inTool({ flat: true }),
      inTool({}, everybody),
      inTool({ flat: true }, { role: { constant: 'reader' } }),
    ])
      assert.ok(payloadText(integration).includes('"acme"'));
    for (const claims of [everybody, { ...everybody, role: { constant: 'reader' } }]) {
      assertErrors(() => inTool({ flat: true }, claims), ['/unrestricted']);
      const text = payloadText(inTool({ flat: true }, claims, { unrestricted: true }));
      assert.equal(text.includes('acme'), false);
    }
  });

  it('is signed with a secret that is as long as the hash', () => {
    assert.equal(inTool({}, {}, { secret: 'x'.repeat(32) }).type, 'jwt');
    assertErrors(() => inTool({}, {}, { secret: 'x'.repeat(31) }), ['/secret']);
  });

  it('has no number that JavaScript rounds, unless the settings say otherwise', () => {
    const large =
      '{"p":{"a":[1,-9007199254740992]},"region":9007199254740991,"list":[1e400,"1e400"]}' as JsonText;
    const propertiesWith = (settings: object, properties: JsonText) =>
      /"properties":(.*)\}\}$/.exec(payloadText(settingsOf('jwt', settings), { properties }))![1];
    const settings = { properties: ['p', 'region', 'list'] };
    assertErrors(() => propertiesWith(settings, large), ['/properties/p/a/1']);
    assertErrors(() => propertiesWith({ properties: ['list'] }, large), ['/properties/list/0']);
    assert.equal(propertiesWith({ ...settings, large_numbers: 'number' }, large), large);
    assert.equal(
      propertiesWith({ ...settings, large_numbers: 'text' }, large),
      '{"p":{"a":[1,"-9007199254740992"]},"region":9007199254740991,"list":["1e400","1e400"]}',
    );
    const small = '{"p":[1.10,2e3,1.50e1,100e-2,-0.0,0e9,0.33333333333333333333],"region":"x"}' as JsonText;
    assert.equal(propertiesWith(settings, small), small);
    for (const rounded of [
      '7.00000000000000000001',
      '0.99999999999999999999',
      '999999999999999.99',
      '-1e-400',
      `1.${'0'.repeat(60_000)}1`,
    ]) {
      const near = `{"region":${rounded}}` as JsonText;
      assertErrors(() => propertiesWith(settings, near), ['/properties/region']);
      assert.equal(propertiesWith({ ...settings, large_numbers: 'number' }, near), near);
      assert.equal(propertiesWith({ ...settings, large_numbers: 'text' }, near), `{"region":"${rounded}"}`);
    }
  });
});

describe('A token for Metabase', () => {
  it('has a resource, parameters with their digits, and an expiry', () => {
    assert.equal(
      payloadText(integrationOf('metabase')),
      '{"resource":{"dashboard":7},"params":{"p":1.10},"exp":400}',
    );
  });

  it('is opened at the URL of its resource', () => {
    const integration = integrationOf('metabase');
    const url = (resource: string) =>
      embedTokenType(integration).url!(integration.settings, resource as JsonText, 'TOKEN');
    assert.equal(url('{"dashboard":7}'), 'https://m.example.com/embed/dashboard/TOKEN');
    assert.equal(url('{"question":"abc"}'), 'https://m.example.com/embed/question/TOKEN');
  });

  it('has no value that Metabase reads as none or as a list', () => {
    const integration = integrationOf('metabase');
    const lists = [
      '1,2',
      '1,2,3',
      '-1.5, +2e3',
      ',',
      ' , ',
      '1,',
      '1,2a',
      '7 b, .8 c',
      '\u0667,\u0668',
      ['a', '1,2'],
    ];
    for (const value of [false, [false], ...lists])
      assert.equal(
        problemOf(() => payload(integration, withValue(value))).code,
        'claim_invalid',
        String(value),
      );
    for (const value of [true, 0, '1', 'a,b', '1.2', '1,a', 'a1,2', '7-b', [1, 'a', true]])
      assert.deepEqual(payload(integration, withValue(value)).params, { p: value });
    for (const [value, pointer] of [
      ['9007199254740993', '/properties/p'],
      ['[1,9007199254740993]', '/properties/p/1'],
    ] as const)
      assertErrors(() => payload(integration, { properties: `{"p":${value}}` as JsonText }), [pointer]);
  });

  it('has only scalars and lists of scalars', () => {
    const integration = integrationOf('metabase');
    assertErrors(() => payload(integration, withValue({ a: 1 })), ['/properties/p']);
    assertErrors(() => payload(integration, withValue([1, { a: 1 }])), ['/properties/p/1']);
    assertErrors(() => payload(integration, withValue([[1]])), ['/properties/p/0']);
    const constant = integrationOf('metabase', {
      claims: { c: { constant: { a: 1 } }, n: { field: 'name' } },
    });
    assertErrors(() => payload(constant), ['/claims/c']);
  });
});

describe('A token for Superset', () => {
  it('has the resource, the rules as SQL, and the group as the guest', () => {
    const rules = [
      ...base.superset.settings.row_level_security,
      { all_datasets: true, column: 'team', type: 'number', value: { field: 'team_id' } },
      { dataset: 3, column: 'tier', type: 'number', value: { constant: 1.5 } },
    ];
    const integration = settingsOf('superset', { row_level_security: rules });
    assert.deepEqual(payload(integration), {
      user: { username: 'acme' },
      resources: [{ type: 'dashboard', id: 'd' }],
      rls_rules: [
        { dataset: 12, clause: "customer = '1.10'" },
        { clause: 'team = 5' },
        { dataset: 3, clause: 'tier = 1.5' },
      ],
      iat: 100,
      exp: 400,
      aud: 'superset',
      type: 'guest',
    });
    assert.deepEqual(payload(integration, {}, 'Zoë').user, { username: 'acme', first_name: 'Zoë' });
  });

  it('has a quote or a backslash only if the settings say how the database reads it', () => {
    for (const value of ['a\\b', "a'b"])
      assertErrors(() => payload(integrationOf('superset'), withValue(value)), ['/properties/p']);
    const clause = (string_escapes: string) =>
      payload(settingsOf('superset', { string_escapes }), withValue("a\\'b")).rls_rules[0].clause;
    assert.equal(clause('standard'), "customer = 'a\\''b'");
    assert.equal(clause('backslash'), "customer = 'a\\\\\\'b'");
  });

  it('has no guest whose id could end a text in SQL', () => {
    for (const providedId of ["a'b", 'a"b', 'a`b', 'a\\b', 'a{{b', 'a${b', 'a\u0085b', 'a＇b', 'a’b', 'a¥b'])
      assertErrors(() => payload(integrationOf('superset'), { providedId }), ['/provided_id']);
    for (const providedId of ['a-b', 'a{b', 'a;b', 'Zoë'])
      assert.equal(payload(integrationOf('superset'), { providedId }).user.username, providedId);
  });

  it('has rules for one data set or for all, and columns that are names', () => {
    const rule = { column: 'a', value: { field: 'name' } };
    const faults = (...rules: object[]) =>
      errorsOf(() => settingsOf('superset', { row_level_security: rules }));
    const path = '/settings/row_level_security';
    assert.deepEqual(faults(rule), [`${path}/0`]);
    assert.deepEqual(faults({ ...rule, dataset: 1 }, { ...rule, dataset: 1, all_datasets: true }), [
      `${path}/1`,
    ]);
    assert.deepEqual(faults({ ...rule, dataset: 1, column: 't.user' }), [`${path}/0/column`]);
  });

  it('has attributes of the guest, which the macro writes into SQL, and which alone restrict nothing', () => {
    const attributes = { plan: { property: 'p' }, list: { property: 'list' }, fixed: { constant: 'x' } };
    const rules = [{ all_datasets: true, column: 'a', value: { field: 'name' } }];
    const settings = { properties: ['p', 'list'], row_level_security: rules };
    const integration = settingsOf('superset', settings, { claims: attributes });
    assert.deepEqual(payload(integration, {}, 'v').user, {
      username: 'acme',
      first_name: 'v',
      attributes: { plan: 1.1, list: [1, 2], fixed: 'x' },
    });
    assert.equal('attributes' in payload(settingsOf('superset', { row_level_security: rules })).user, false);
    for (const value of ["a'b", 'a"b', 'a\\b', '{{ x }}', '\u2019', ['a', "b'"], 9007199254740993n])
      assert.equal(
        problemOf(() =>
          payload(integration, {
            properties: JSON.stringify({ p: 1, list: value }, (_key, each: unknown) =>
              typeof each === 'bigint' ? 'large' : each,
            ).replace('"large"', '9007199254740993') as JsonText,
          }),
        ).code,
        'claim_invalid',
        String(value),
      );
    const without = { row_level_security: undefined, properties: ['p', 'list'] };
    assertErrors(() => settingsOf('superset', without, { claims: attributes }), ['/unrestricted']);
    assert.ok(settingsOf('superset', without, { claims: attributes, unrestricted: true }));
  });
});

describe('A token for Lightdash', () => {
  it('has the dashboard, what the viewer may do, and attributes as texts', () => {
    const integration = settingsOf('lightdash', { options: { canExportCsv: true } });
    assert.deepEqual(payload(integration), {
      content: { type: 'dashboard', dashboardSlug: 'revenue', canExportCsv: true },
      userAttributes: { p: '1.10' },
      user: { externalId: 'acme' },
      exp: 400,
    });
    assert.deepEqual(payload(integration, {}, 'Zoë').user, { externalId: 'Zoë' });
    for (const value of [false, 0])
      assert.deepEqual(payload(integration, withValue(value)).userAttributes, { p: `${value}` });
    assert.deepEqual(payload(integration, withValue([true, 'a', 1])).userAttributes, {
      p: ['true', 'a', '1'],
    });
  });

  it('has only the options that Lightdash knows for its content', () => {
    const every = ['canExportCsv', 'canExportImages', 'canViewUnderlyingData', 'canExplore'];
    const chosen = Object.fromEntries(every.map((name) => [name, true]));
    const contentOf = (resource: object) =>
      payload(settingsOf('lightdash', { resources: [resource], options: chosen })).content;
    for (const resource of [{ dashboardUuid: 'd' }, { dashboardSlug: 'd' }])
      assert.deepEqual(contentOf(resource), { type: 'dashboard', ...resource, ...chosen });
    const { canExplore: _, ...ofChart } = chosen;
    assert.deepEqual(contentOf({ contentId: 'c' }), { type: 'chart', contentId: 'c', ...ofChart });
    assert.deepEqual(contentOf({ appUuid: 'a' }), { type: 'dataApp', appUuid: 'a' });
  });

  const changed = [
    "a'b",
    'a"b',
    'a\\b',
    '$1',
    'a--b',
    'a/*b',
    'a*/b',
    'a\u200bb',
    'a\ufeffb',
    'a{{b',
    'a\nb',
    'e\u0301',
    '＄',
    '－－',
  ];

  it('has no text that Lightdash would change or read as SQL', () => {
    const integration = integrationOf('lightdash');
    for (const text of changed) {
      assertErrors(() => payload(integration, withValue(text)), ['/properties/p'], text);
      assertErrors(() => payload(integration, withValue(['a', text])), ['/properties/p/1'], text);
      assertErrors(() => payload(integration, {}, text), ['/viewer'], text);
      assertErrors(() => payload(integration, { providedId: text }), ['/provided_id'], text);
    }
    for (const text of ['é', 'a-b', 'a/b', 'a*b', 'a b', 'a;b'])
      assert.equal(payload(integration, withValue(text)).userAttributes.p, text);
  });
});

describe('No token is minted', () => {
  it('for a value that the group lacks or that is empty, and all are named', () => {
    const claims = { a: { property: 'p' }, b: { mapping: '41' }, c: { mapping: '40' } };
    const integration = integrationOf('metabase', { claims });
    const problem = problemOf(() => payload(integration, { properties: null }));
    assert.equal(problem.code, 'claim_missing');
    assert.equal(problem.message, 'The user group lacks properties/p, mapping/41. No token was minted.');
    assert.deepEqual(problem.errors, [
      { pointer: '/properties/p', detail: 'is missing or empty; /claims/a of the integration requires it' },
      { pointer: '/mapping/41', detail: 'is missing or empty; /claims/b of the integration requires it' },
    ]);
    const one = integrationOf('metabase');
    for (const value of [null, '', [], {}, [''], ['a', null], [[]]])
      assertErrors(() => payload(one, withValue(value)), ['/properties/p'], JSON.stringify(value));
    for (const properties of ['[]', '"p"', '{}'])
      assertErrors(() => payload(one, { properties: properties as JsonText }), ['/properties/p']);
    assertErrors(() => payload(integrationOf('superset'), { properties: null }), ['/properties/p']);
    const field = integrationOf('metabase', { claims: { n: { field: 'name' } } });
    assertErrors(() => payload(field, { name: '' }), ['/name']);
    assert.equal(payload(field).params.n, 'Acme');
  });

  it('for more than 20 values, of which the first are named', () => {
    const claims = Object.fromEntries(
      Array.from({ length: 23 }, (_, index) => [`c${index}`, { mapping: `s${index}` }]),
    );
    const missing = problemOf(() => payload(integrationOf('metabase', { claims })));
    assert.deepEqual([missing.code, missing.errors.length], ['claim_missing', 20]);
    assert.match(missing.message, /, mapping\/s19, and 3 more\. No token was minted\.$/);
    const resources = { resources: { property: 'p' }, properties: ['p'] };
    const list = { ...acme, properties: jsonText({ p: Array(23).fill({ dashboard: '' }) }) };
    const invalid = problemOf(() =>
      allowedResources(settingsOf('metabase', resources), new GroupValues(list)),
    );
    assert.deepEqual([invalid.code, invalid.errors.length], ['claim_invalid', 20]);
    assert.match(invalid.message, /; and 3 more\. No token was minted\.$/);
  });

  it('for a value that could be read as another, and the caller learns which one', () => {
    const problem = problemOf(() => payload(integrationOf('metabase'), withValue(['1,2'])));
    assert.equal(
      problem.message,
      'properties/p/0 must not be several numbers with commas, which Metabase reads as a list. No token was minted.',
    );
    const rules = [{ dataset: 1, column: 'a', value: { constant: 'a\\b' } }];
    const superset = settingsOf('superset', { row_level_security: rules }, { unrestricted: true });
    assertErrors(() => payload(superset), ['']);
  });

  it('if it would have more than 4 096 bytes', () => {
    checkLength('x'.repeat(4_096));
    const { code, message, errors } = problemOf(() => checkLength('x'.repeat(4_097)));
    assert.deepEqual([code, errors.length], ['claim_invalid', 1]);
    assert.match(message, /^The token would have 4097 bytes/);
  });

  it('if its values alone are longer, without reading them once for each claim', () => {
    const claims = Object.fromEntries(
      Array.from({ length: 50 }, (_, index) => [`c${index}`, { property: 'p' }]),
    );
    const long = withValue(Array(30_000).fill(1));
    const startedAt = cpuMs();
    for (const integration of [
      integrationOf('jwt', { claims, settings: { properties: ['p'] } }),
      integrationOf('metabase', { claims }),
    ]) {
      const { code, message } = problemOf(() => payload(integration, long));
      assert.equal(code, 'claim_invalid');
      assert.match(message, /^The token would have more than 3000050 bytes/);
    }
    const tookMs = cpuMs() - startedAt;
    assert.ok(tookMs < 300, `${tookMs} ms of processor time`);
    // The token is for one element of this list, which may be longer than a token.
    const dashboards = Array.from({ length: 100 }, (_, id) => ({ dashboard: `${id}`.padStart(60, 'd') }));
    const resources = { resources: { property: 'list' }, properties: ['list', 'p'] };
    const properties = JSON.stringify({ p: 'x', list: dashboards }) as JsonText;
    assert.deepEqual(payload(settingsOf('metabase', resources), { properties }).resource, dashboards[0]);
  });
});
