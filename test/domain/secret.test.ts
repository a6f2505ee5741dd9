// Secrets are not exposed by accident.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { describe, it } from 'node:test';
import { format, inspect } from 'node:util';
import { pino } from 'pino';
import { computeBucket } from '../../src/domain/bucket.ts';
import { generateKeyLine } from '../../src/domain/key-ring.ts';
import { redact, Secret } from '../../src/domain/secret.ts';
import { mintApiToken, mintUserGroupToken } from '../../src/domain/token.ts';
import { mintWebhookSecrets } from '../../src/domain/webhook-endpoint/webhook-signature.ts';

const TEXT = 'open sesame';

describe('a secret', () => {
  const secret = new Secret(TEXT);

  it('is revealed by reveal()', () => {
    assert.equal(secret.reveal(), TEXT);
  });

  const accidents: Record<string, () => unknown> = {
    'a template': () => `${secret}`,
    concatenation: () => `is ${String(secret)}`,
    'a joined array': () => [secret].join(),
    JSON: () => JSON.stringify({ nested: [secret] }),
    'util.inspect': () => inspect({ nested: { secret } }, { depth: null, showHidden: true }),
    'a format string': () => format('%s %o %O %j %d', secret, secret, secret, secret, secret),
    'an error message': () => new Error(`bad token ${secret}`, { cause: secret }).stack,
    'its properties': () => JSON.stringify([Object.entries(secret), Reflect.ownKeys(secret), { ...secret }]),
    'a structured clone': () => inspect(structuredClone(secret), { showHidden: true }),
    'a log': () => {
      const lines: string[] = [];
      pino({}, { write: (line: string) => lines.push(line) }).info(
        { secret, nested: { secret } },
        '%s',
        secret,
      );
      return lines.join();
    },
  };
  for (const [what, show] of Object.entries(accidents)) {
    it(`is not exposed by ${what}`, () => assert.equal(String(show()).includes(TEXT), false));
  }

  it('is shown as [redacted]', () => {
    assert.equal(`${secret}`, '[redacted]');
    assert.equal(JSON.stringify({ secret }), '{"secret":"[redacted]"}');
    assert.equal(inspect(secret), '[redacted]');
  });
});

describe('redact', () => {
  const secrets: Record<string, () => string> = {
    'a user group token': () => mintUserGroupToken(computeBucket(1, 'Customer', 'acme')).reveal(),
    'an API token': () => mintApiToken().reveal(),
    'a webhook secret': () => mintWebhookSecrets().current.reveal(),
    'a key ring line': () => generateKeyLine().reveal(),
    'an imported token in hexadecimal': () => randomBytes(32).toString('hex'),
    'an imported token in base64url': () => `aA1${randomBytes(32).toString('base64url')}`,
  };
  for (const [what, create] of Object.entries(secrets)) {
    it(`removes ${what} from any text`, () => {
      for (let time = 0; time < 200; time++) {
        const text = create();
        assert.equal(redact(text), '[redacted]');
        assert.equal(redact(`before ${text} after`), 'before [redacted] after');
        assert.equal(redact(`"${text}",${text}\n${text}`), '"[redacted]",[redacted]\n[redacted]');
        assert.equal(redact(`https://a/b?c=${text}&d`), 'https://a/b?c=[redacted]&d');
        assert.equal(redact(JSON.stringify({ [text]: [text] })), '{"[redacted]":["[redacted]"]}');
      }
    });
  }

  it('keeps JSON valid, whatever precedes the secret', () => {
    for (const create of Object.values(secrets)) {
      for (const before of '"\\/\b\f\n\r\t\u0001\u001f') {
        const text = JSON.stringify({ [before + create()]: `a${before}${create()}` });
        const expected = { [`${before}[redacted]`]: `a${before}[redacted]` };
        assert.deepEqual(JSON.parse(redact(text)), expected);
      }
    }
  });

  it('keeps the ids of requests and traces, and removes the same digits elsewhere', () => {
    const digits = '0123456789abcdef'.repeat(2);
    for (const member of ['requestId', 'request_id', 'traceId']) {
      const text = JSON.stringify({ [member]: digits, other: digits });
      assert.equal(redact(text), JSON.stringify({ [member]: digits, other: '[redacted]' }));
    }
  });

  it('does not change other text', () => {
    for (const text of [
      'whsec_example',
      'ORDER-2026-EUROPE-CENTRAL-0001-ABCDEF',
      '',
      'ugt_',
      'uga_short',
      'user_group_token',
      '{"user_group_id":"ugt_0123456789"}',
      '7f3a9c21',
      '2026-01-01T00:00:00.000Z',
      '/v1/user-groups/0d9f3c1e-52a4-4b7e-9a55-6f1f0f3b8a21',
      'user_groups_workspace_id_environment_provided_id_2',
      'monthlyActiveUsersOfAllOrganizations',
      '12345678901234567890123456789012345678901234567890',
      'k'.repeat(256),
    ]) {
      assert.equal(redact(text), text);
    }
  });
});
