// Patterns in the published description have the same meaning in every regex engine and need no flag, and the
// service enforces them.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describeOnEachDatabase, sqlite } from '../support/database.ts';
import { mapConcurrently } from '../support/http.ts';
import { TestService } from '../support/service.ts';

interface TextSchema {
  pattern?: string;
  not?: { pattern: string };
}

type JsonObject = Record<string, unknown>;

const document = JSON.parse(readFileSync('docs/openapi.json', 'utf8'));

const spaces = [...' \u00a0\u1680\u2000\u2005\u200a\u2028\u2029\u202f\u205f\u3000\ufeff'];
const controls = [...'\0\t\n\v\f\r\u001b\u001f\u007f\u0080\u0085\u009f'];
/** Characters that some regex engines treat as white space or control characters. */
const others = [...'\u00ad\u180e\u200b\u200e\u2060\u202a\u202e\ue000\ufffd\uffff\u{1f642}\u{10ffff}é'];
const odd = [...spaces, ...controls, ...others];

const targets = [
  '2026-03-05',
  'user_group:acme',
  'api_token:7',
  'webhook_endpoint:crm',
  'group:acme',
  'user_group',
];
const texts = [
  ...targets,
  ...['a', 'ab', 'a b', 'customer-1', 'P{Cc}', 'PCc{}', 'p', '\\', '\u{1f642}'.repeat(100), 'x'.repeat(255)],
  ...odd.flatMap((each) => [each, `${each}a`, `a${each}`, `a${each}b`, each + each, `${each}a${each}`]),
  ...['a\n\n', '\n\n', 'a\r\n', ' \n', 'a\nb\n'],
];
const headerTexts = [
  ...[
    '"12-3"',
    '"',
    '""',
    'W/"12-3"',
    '"a b"',
    'FsX-pj4u-6',
    'trace/a.b:c=1+2@x_y-z',
    'a_b',
    'name',
    'name, properties',
    'name,mapping',
    '/mapping/40, /mapping/%C3%A4~1b',
    '"api-token";r=599;t=42',
    '"api-token";q=600;w=60',
  ],
  ...['Token realm="x"', 'Bearer', 'GET', 'GET, PUT, POST', 'get', "default-src 'none'; style-src 'self'"],
];

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null;
}

/** Yields the object and all objects nested in it. */
function* objectsIn(value: unknown): Generator<JsonObject> {
  if (!isObject(value)) return;
  yield value;
  for (const member of Object.values(value)) yield* objectsIn(member);
}

/** Returns the distinct schemas with a pattern, or with one that must not match. */
function patternSchemas(): TextSchema[] {
  const objects = [...objectsIn(document)];
  const negated = new Set(objects.map(({ not }) => not));
  const found = objects
    .filter((each) => !negated.has(each) && typeof ((each.not as JsonObject) ?? each).pattern === 'string')
    .map(({ pattern, not }) => ({ pattern, not }) as TextSchema);
  return [...new Map(found.map((schema) => [JSON.stringify(schema), schema])).values()];
}

function accepts({ pattern, not }: TextSchema, flags: string, text: string): boolean {
  return new RegExp(pattern ?? '', flags).test(text) && !(not && new RegExp(not.pattern, flags).test(text));
}

describe('The patterns of the description', () => {
  const schemas = patternSchemas();
  /**
   * Texts to test each schema with. A header cannot contain a line feed, so its schema does not exclude one.
   */
  const values = schemas.map(({ not }) =>
    not === undefined ? [...headerTexts, ...texts.filter((text) => !text.includes('\n'))] : texts,
  );
  const verdicts = (flags: string) =>
    schemas.map((schema, index) => values[index]!.map((text) => accepts(schema, flags, text)));

  it('are all tested with matching and non-matching texts', () => {
    assert.ok(schemas.length >= 8);
    for (const [index, verdict] of verdicts('u').entries()) {
      assert.deepEqual(new Set(verdict), new Set([true, false]), JSON.stringify(schemas[index]));
    }
  });

  it('match the same texts in JavaScript without a flag, with u and with v', () => {
    assert.deepEqual(verdicts(''), verdicts('u'));
    assert.deepEqual(verdicts('v'), verdicts('u'));
  });

  it("say the same in Python's re", ({ skip }) => {
    const program = [
      'import json, re, sys',
      'cases = json.load(sys.stdin)',
      "accepts = lambda s, v: bool(re.search(s.get('pattern', ''), v)) and not ('not' in s and re.search(s['not']['pattern'], v))",
      'json.dump([[accepts(s, v) for v in values] for s, values in cases], sys.stdout)',
    ].join('\n');
    const input = JSON.stringify(schemas.map((schema, index) => [schema, values[index]]));
    const { error, status, stdout, stderr } = spawnSync('python3', ['-c', program], {
      input,
      encoding: 'utf8',
    });
    if (error) return skip(`python3 cannot be run: ${error.message}`);
    assert.equal(status, 0, stderr);
    assert.deepEqual(JSON.parse(stdout), verdicts('u'));
  });

  it('use no escape, assertion or class that common regex engines lack or interpret differently', () => {
    for (const { pattern = '', not } of schemas) {
      // Generated clients for Ruby and PHP compile it; PHP, byte by byte.
      assert.doesNotMatch(pattern, /\\u|\\x[89A-F]|[^ -~]/, pattern);
      for (const each of [pattern, not?.pattern ?? '']) {
        assert.doesNotMatch(each, /\\[sSwWdDbBpPkAzZ]|\(\?[^:]/, each);
        assert.doesNotMatch(each, /\[[^\]\\]*-\]/, `${each} ends a class with a bare hyphen`);
      }
    }
  });

  it('list no names, because another name would change a pattern that was promised', () => {
    for (const { pattern = '' } of schemas) assert.doesNotMatch(pattern, /[a-z_]+\|[a-z_]+/);
  });

  it('match every example in a validator without the flag u', () => {
    const ajv = new Ajv2020({ strict: false, unicodeRegExp: false, validateFormats: false });
    ajv.addSchema(document, 'api');
    let tried = 0;
    for (const { schema, example, examples } of objectsIn(document)) {
      if (!isObject(schema)) continue;
      const resolved = '$ref' in schema ? { $ref: `api${schema.$ref}` } : schema;
      const shown = Object.values(isObject(examples) ? examples : {}).map((each) =>
        exampleValue(each as object),
      );
      for (const value of [...(example === undefined ? [] : [example]), ...shown]) {
        assert.ok(ajv.validate(resolved, value), `${JSON.stringify(value)}: ${ajv.errorsText()}`);
        tried++;
      }
    }
    assert.ok(tried > 50);
  });

  it('are in a document with contact information, as linters require', () => {
    assert.ok(document.info.contact.name);
  });
});

/** Returns the value of an example that is inline or shared in the components. */
function exampleValue(example: { value?: unknown; $ref?: string }): unknown {
  if (example.$ref === undefined) return example.value;
  const name = example.$ref.replace('#/components/examples/', '');
  return document.components.examples[name].value;
}

describeOnEachDatabase('The service enforces the patterns of its description', (database) => {
  const service = TestService.of(database);

  const { UserGroupRequest } = document.components.schemas;
  const search = document.paths['/v1/user-groups'].get.parameters.find(
    ({ name }: { name: string }) => name === 'search',
  );
  const path = (text: string) => `/v1/user-groups/${encodeURIComponent(text)}`;
  const query = (text: string) => `/v1/user-groups?search=${encodeURIComponent(text)}`;
  const fields: Record<string, [schema: TextSchema, call: (text: string) => Promise<{ status: number }>]> = {
    'of an id in a body': [
      UserGroupRequest.properties.user_group_id,
      (text) => service.put({ user_group_id: text }),
    ],
    'of an id in a path': [
      document.paths['/v1/user-groups/{user_group_id}'].get.parameters[0].schema,
      (text) => service.call('GET', path(text)),
    ],
    'of a name': [
      UserGroupRequest.properties.name,
      (text) => service.put({ user_group_id: 'missing', name: text }),
    ],
    'of a search': [search.schema, (text) => service.call('GET', query(text))],
  };

  for (const [what, [schema, call]] of Object.entries(fields)) {
    // Ids are tested with odd texts on each database by read.test.ts; a name is checked before the database.
    if (database !== sqlite && schema !== search.schema) continue;
    it(what, async () => {
      const wrong: string[] = [];
      const check = async (text: string) => {
        const { status } = await call(text);
        assert.ok([200, 400, 404].includes(status), `${status} for ${JSON.stringify(text)}`);
        if ((status !== 400) !== accepts(schema, '', text)) wrong.push(JSON.stringify(text));
      };
      // One list at a time, because lists yield to one another.
      await mapConcurrently(texts, check, schema === search.schema ? 1 : undefined);
      assert.deepEqual(wrong, []);
    });
  }
});
