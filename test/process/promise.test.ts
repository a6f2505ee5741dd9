// docs/versions.md: `npm run check` refuses changes that break a caller or an operator of an earlier version,
// and accepts additions.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import type { OpenAPIV3_1 } from 'openapi-types';
import { openApi } from '../../scripts/openapi/document.ts';
import {
  currentNames,
  findIncompatibleChanges,
  findMissingNames,
  releasedPromise,
} from '../../scripts/promise.ts';
import * as surface from '../../src/http/routes.ts';
import { Folder } from '../support/process.ts';

type Operation = Omit<OpenAPIV3_1.OperationObject, 'parameters'> & {
  parameters: OpenAPIV3_1.ParameterObject[];
};
type Schema = OpenAPIV3_1.SchemaObject & { properties: Record<string, Schema>; required: string[] };
type Mutant = (api: OpenAPIV3_1.Document) => void;

const paths = (api: OpenAPIV3_1.Document) => api.paths as Record<string, Record<string, Operation>>;
const schema = (api: OpenAPIV3_1.Document, name: string) => api.components!.schemas![name] as Schema;
const listParameter = (api: OpenAPIV3_1.Document, wanted: string) =>
  paths(api)['/v1/user-groups']!.get!.parameters.find(({ name }) => name === wanted)!;

/** Changes that break a promise, each with the start of its fault. */
const BREAKING: [name: string, fault: RegExp, mutant: Mutant][] = [
  ['a path', /Path `\/v1\/resolve` was removed/, (api) => delete paths(api)['/v1/resolve']],
  [
    'a method',
    /`DELETE \/v1\/webhook-endpoints.*` was removed/,
    (api) => delete paths(api)['/v1/webhook-endpoints/{webhook_endpoint_id}']!.delete,
  ],
  [
    'the name of an operation',
    /`operationId` of operation `GET \/v1\/whoami` changed/,
    (api) => {
      paths(api)['/v1/whoami']!.get!.operationId = 'renamed';
    },
  ],
  [
    'a query parameter',
    /`search` query parameter was removed/,
    (api) => {
      const list = paths(api)['/v1/user-groups']!.get!;
      list.parameters = list.parameters.filter(({ name }) => name !== 'search');
    },
  ],
  [
    'a field of a request',
    /`name` of `ApiTokenRequest` was removed/,
    (api) => delete schema(api, 'ApiTokenRequest').properties.name,
  ],
  [
    'a field of a response',
    /`team_id` of `user_group` was removed/,
    (api) => delete schema(api, 'RotatedUserGroup').properties.user_group!.properties.team_id,
  ],
  [
    'a field that was always in a response',
    /no longer required: `provided_id`/,
    (api) => {
      const group = schema(api, 'RotatedUserGroup').properties.user_group!;
      group.required = group.required.filter((name) => name !== 'provided_id');
    },
  ],
  [
    'a value of an enum',
    /Enum of `mode` lost values: 'report'/,
    (api) => {
      const { mode } = schema(api, 'MappingPolicy').properties;
      mode!.enum = mode!.enum!.filter((value) => value !== 'report');
    },
  ],
  [
    'a status',
    /Response `404` was removed/,
    (api) => delete paths(api)['/v1/user-groups/{user_group_id}']!.get!.responses!['404'],
  ],
  [
    'a header of a response',
    /header `ETag` was removed/,
    (api) => {
      const response = paths(api)['/api/user']!.put!.responses!['200'] as OpenAPIV3_1.ResponseObject;
      delete response.headers!.ETag;
    },
  ],
  [
    'that a field of a request is optional',
    /became required: `grace_period_seconds`/,
    (api) => schema(api, 'TokenRotation').required.push('grace_period_seconds'),
  ],
  [
    'that a parameter is optional',
    /`cursor` query parameter became required/,
    (api) => {
      listParameter(api, 'cursor').required = true;
    },
  ],
  [
    'the type of a field',
    /narrowed from 'string' to 'integer'/,
    (api) => {
      schema(api, 'TokenRotation').properties.current_token!.type = 'integer';
    },
  ],
  [
    'that a limit is not lower',
    /'<= 1000' to '<= 10'/,
    (api) => {
      (listParameter(api, 'limit').schema as Schema).maximum = 10;
    },
  ],
];

const ADDING: Mutant[] = [
  (api) => {
    paths(api)['/v1/things'] = paths(api)['/v1/resolve']!;
  },
  (api) => {
    paths(api)['/v1/resolve']!.get = paths(api)['/v1/whoami']!.get!;
  },
  (api) => {
    paths(api)['/v1/user-groups']!.get!.parameters.unshift({
      name: 'next',
      in: 'query',
      schema: { type: 'string' },
    });
  },
  (api) => {
    schema(api, 'TokenRotation').properties.next = { type: 'string' } as Schema;
  },
  (api) => {
    const group = schema(api, 'RotatedUserGroup').properties.user_group!;
    group.properties.next = { type: 'string' } as Schema;
    group.required.push('next');
  },
  (api) => schema(api, 'MappingPolicy').properties.mode!.enum!.push('next'),
  (api) => schema(api, 'EventActor').properties.type!.enum!.push('next'),
  (api) => {
    (listParameter(api, 'limit').schema as Schema).maximum = 5_000;
  },
  (api) => {
    for (const parameter of paths(api)['/v1/user-groups']!.get!.parameters) parameter.description = 'Next.';
    api.servers![0]!.description = 'Next.';
  },
];

describe('The check of promises', () => {
  const promised = openApi(surface);
  const names = currentNames();

  it('refuses an API description that lacks or restricts what was promised', () => {
    const changed = structuredClone(promised);
    for (const [, , mutate] of BREAKING) mutate(changed);
    const faults = findIncompatibleChanges(promised, changed);
    const survivors = BREAKING.filter(([, fault]) => !faults.some((line) => fault.test(line)));
    assert.deepEqual(
      survivors.map(([name]) => name),
      [],
      faults.join('\n'),
    );
  });

  it('accepts an API description that adds to it', () => {
    const changed = structuredClone(promised);
    for (const mutate of ADDING) mutate(changed);
    assert.notDeepEqual(changed, promised);
    assert.deepEqual(findIncompatibleChanges(promised, changed), []);
  });

  for (const [kind, list] of Object.entries(names)) {
    it(`refuses that one of the ${kind} is missing, and accepts another one`, () => {
      assert.ok(list.length > 5);
      for (const name of list) {
        const fewer = { ...names, [kind]: list.filter((each) => each !== name) };
        assert.deepEqual(findMissingNames(names, fewer), [`${kind}: "${name}" is missing`]);
      }
      assert.deepEqual(findMissingNames(names, { ...names, [kind]: [...list, 'next'] }), []);
    });
  }

  it('refuses another status of an error code, and another number of an exit code', () => {
    const { errorCodes, exitCodes } = names;
    const changed = {
      ...names,
      errorCodes: errorCodes!.map((line) => line.replace('overloaded 503', 'overloaded 429')),
      exitCodes: exitCodes!.map((line) => line.replace('78 config', '64 config')),
    };
    assert.deepEqual(findMissingNames(names, changed), [
      'exitCodes: "78 config" is missing',
      'errorCodes: "overloaded 503" is missing',
    ]);
  });

  it('compares with the last tag of the same major version', () => {
    using repository = new Folder();
    const git = (...args: string[]) =>
      execFileSync('git', ['-c', 'user.name=test', '-c', 'user.email=test@example.com', ...args], {
        cwd: repository.path,
      });
    git('init', '--quiet');
    mkdirSync(repository.join('scripts/promise'), { recursive: true });
    const commit = (text: string, tag: string) => {
      writeFileSync(repository.join('scripts/promise/names.json'), text);
      git('add', '.');
      git('commit', '--quiet', '-m', tag);
      git('tag', tag);
    };
    assert.equal(releasedPromise(repository.path), null);
    commit('{"settings": ["FIRST"]}', 'v0.1.0');
    commit('{"settings": ["SECOND"]}', 'v0.2.0');
    commit('{"settings": []}', 'v9.0.0');
    using released = releasedPromise(repository.path);
    const names = readFileSync(released!.join('scripts/promise/names.json'), 'utf8');
    assert.equal(names, '{"settings": ["SECOND"]}');
  });
});
