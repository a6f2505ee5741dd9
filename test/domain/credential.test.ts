// Credentials that a data source must not contain: members named like one, and texts that contain one.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { findCredential } from '../../src/domain/catalogue/credential.ts';
import { cpuMs } from '../../src/system/cpu-time.ts';

const NAMES = [
  ...[
    'password',
    'passwd',
    'passphrase',
    'pass',
    'pwd',
    'secret',
    'credential',
    'credentials',
    'token',
    'dsn',
  ],
  ...[
    'private_key',
    'privateKey',
    'private-key',
    'privatekey',
    'api_key',
    'apiKey',
    'api-key',
    'apikey',
    'accesskey',
  ],
  ...[
    'access_key',
    'accessKey',
    'access-key',
    'connection_string',
    'connectionString',
    'connection-string',
    'connectionstring',
  ],
  ...[
    'db_password',
    'db-password',
    'dbPassword',
    'DB_PASSWORD',
    'PASSWORD',
    'PGPASSWORD',
    'MYSQL_PWD',
    'dbpasswd',
    'a1Token',
    'user_name_token',
  ],
];
const OTHER_NAMES = [
  ...[
    'host',
    'database',
    'passenger',
    'passwords',
    'compass',
    'tokens',
    'tokenizer',
    'keyboard',
    'secretary',
  ],
  ...['secret_name', 'secretName', 'secret_arn', 'secret-ref', 'password_id', 'token_path', 'key_reference'],
  ...['db_secret_name', 'credentials_id', 'key', 'public_key', 'dsnx', 'bypass', 'private', 'api', 'monkey'],
];

const TEXTS = [
  ...['postgres://user:pw@host/db', 'postgres://:pw@host', 'see mysql://u:p@h today', 'a://b:c@d'],
  ...['user:pw@tcp(host:3306)/db', 'user:pw@unix(/run/db)', 'u:p@TCP(h)', 'u:pw@Unix(h)'],
  ...['jdbc:oracle:thin:scott/tiger@host:1521', 'jdbc:oracle:oci:scott/tiger@host', 'JDBC:ORACLE:THIN:a/b@c'],
  ...['password=hunter2', 'Pwd = x', 'a;PWD=x;b', '{"password": "x"}', "{'secret' : 'x'}", 'account_key=abc'],
  ...['AccountKey=abc', 'private-key=x', 'apikey=x', 'api_key=x', 'access-key=x', 'token=x', 'passphrase=x'],
  ...['passwd=x', 'pass=x', 'my pass=x', 'password="x"', "password'=x", 'password==', 'password = \tx'],
  ...['password=$x', 'password={x}', 'secretkey secret=x'],
  ...[
    '-----BEGIN PRIVATE KEY-----',
    '-----BEGIN RSA PRIVATE KEY-----',
    '-----BEGIN PGP PRIVATE KEY BLOCK-----',
  ],
  ...['-----BEGIN EC2 PRIVATE KEY-----'],
];
const OTHER_TEXTS = [
  ...[
    '',
    'db.example.com',
    'postgres://host/db',
    'postgres://user@host/db',
    'https://host:8080/a@b',
    'a:b@c',
  ],
  ...[
    'https://host/a:b@c',
    'https://host?a:b@c',
    'https://host#a:b@c',
    'a:// b:c@d',
    'a://b:@c',
    'a://b:c d@e',
  ],
  ...[
    'user@tcp(host)',
    'user:@tcp(host)',
    'user:p w@tcp(host',
    'jdbc:oracle:thin:@host:1521',
    'jdbc:oracle:thin:a@b',
  ],
  ...[
    'password',
    'password:',
    'the password is secret',
    'password=',
    'password=;x',
    'password= ',
    'password=&a=b',
  ],
  ...['password=$' + '{PASSWORD}', 'password={{ password }}'],
  ...[
    'password: x',
    'bypass=x',
    '-----BEGIN PUBLIC KEY-----',
    '-----BEGIN CERTIFICATE-----',
    'BEGIN PRIVATE KEY',
  ],
];

describe('a credential', () => {
  it('is a member that is named like one', () => {
    for (const name of NAMES) {
      const found = findCredential({ host: 'h', [name]: 'x' });
      assert.deepEqual(found, { path: [name], detail: 'is named like a credential' }, name);
    }
  });

  it('is not a member with another name, such as that of a secret in a secret store', () => {
    for (const name of OTHER_NAMES) assert.equal(findCredential({ [name]: 'x' }), null, name);
  });

  it('is a text that contains one', () => {
    for (const text of TEXTS) {
      const expected = { path: ['url'], detail: 'contains a password, a token or a private key' };
      assert.deepEqual(findCredential({ url: text }), expected, text);
    }
  });

  it('is not another text, such as a URL without a password or a placeholder', () => {
    for (const text of OTHER_TEXTS) assert.equal(findCredential({ url: text }), null, text);
  });

  it('is found percent-encoded up to three times, as the parameter of a URL', () => {
    let text = 'postgres://user:pw@host';
    for (let count = 1; count <= 3; count++) {
      text = encodeURIComponent(text);
      assert.notEqual(findCredential(text), null, text);
      assert.notEqual(findCredential(text.toLowerCase()), null, text);
    }
    assert.equal(findCredential(encodeURIComponent(text)), null);
  });

  it('is found at any depth, and its path does not contain it', () => {
    const text = 'password=hunter2';
    assert.deepEqual(findCredential([0, { a: [null, true, text] }])?.path, [1, 'a', 2]);
    assert.deepEqual(findCredential({ a: { [text]: 1 } })?.path, ['a']);
    assert.deepEqual(findCredential({ a: { token: { b: 1 } } })?.path, ['a', 'token']);
    assert.deepEqual(findCredential(text)?.path, []);
    for (const value of [null, 1, true, [], {}, ['a', { b: 'c' }]]) assert.equal(findCredential(value), null);
  });

  it('is searched for in linear time', () => {
    const parts = [
      '://',
      '://a:',
      ':',
      '@',
      ':a',
      'a',
      '%',
      '%25',
      'password ',
      'password=',
      'password=;',
      ' ',
      '=',
    ];
    const others = ['jdbc:oracle:a:', 'jdbc:oracle:a:b/', '-----BEGIN ', '-----BEGIN A', 'pwd"', 'A ', '.-+'];
    for (const part of [...parts, ...others]) {
      const text = part.repeat(10_000).slice(0, 16_000);
      const times = Array.from({ length: 3 }, () => {
        const startedAt = cpuMs();
        findCredential(text);
        return cpuMs() - startedAt;
      });
      assert.ok(Math.min(...times) < 50, `${part}: ${times} ms`);
    }
  });
});
