// Compiled and never run: what the types of the client allow, what they refuse, and what they say of answers.

import {
  type ErrorCode,
  type Fetch,
  type ListedUserGroup,
  type Mapping,
  type Page,
  type Properties,
  type StoredUserGroup,
  type TokenState,
  UserGroupClient,
  UserGroupServiceError,
} from '../src/index.ts';

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;

/** Does not compile where the two types are not the same. */
function same<A, B>(..._proof: Equal<A, B> extends true ? [] : [never]): void {}

const client = new UserGroupClient({ url: 'http://127.0.0.1:8080', apiToken: 'uga_x' });

export async function getOrCreate(): Promise<void> {
  const { user_group, new_user_group, drift, etag } = await client.getOrCreate({
    user_group_id: 'customer-1',
    name: 'Acme',
    mapping: { 40: '213', sales: 7 },
    properties: { plan: 'gold', seats: 12, nested: { list: [1, null, 'x', { deep: true }] } },
  });
  same<typeof new_user_group, boolean>();
  same<typeof etag, string>();
  same<typeof drift, ('name' | 'mapping' | 'properties')[]>();
  same<typeof user_group.token, string>();
  same<typeof user_group.team_id, number>();
  same<typeof user_group.properties, Properties | null | undefined>();
  // @ts-expect-error: the answer of this call has no mapping.
  user_group.mapping;

  await client.getOrCreate({ user_group_id: 'a', mapping: null, properties: null });
  await client.getOrCreate({ user_group_id: 'a', name: undefined });
  // @ts-expect-error: the id is missing.
  await client.getOrCreate({ name: 'Acme' });
  // @ts-expect-error: an id is a string.
  await client.getOrCreate({ user_group_id: 1 });
  // @ts-expect-error: no such field.
  await client.getOrCreate({ user_group_id: 'a', nmae: 'Acme' });
  // @ts-expect-error: a name cannot be cleared.
  await client.getOrCreate({ user_group_id: 'a', name: null });
  // @ts-expect-error: a mapping leads to data sources only.
  await client.getOrCreate({ user_group_id: 'a', mapping: { 40: { id: 213 } } });
  // @ts-expect-error: JSON has no dates.
  await client.getOrCreate({ user_group_id: 'a', properties: { since: new Date() } });
  // @ts-expect-error: JSON has no big integers.
  await client.getOrCreate({ user_group_id: 'a', properties: { seats: 1n } });
  // @ts-expect-error: a creation has no version to match.
  await client.getOrCreate({ user_group_id: 'a' }, { ifMatch: etag });
}

export async function change(): Promise<void> {
  const { user_group, etag } = await client.update({ user_group_id: 'a', name: 'B' }, { ifMatch: '"1-1"' });
  same<typeof user_group.properties, Properties | null>();
  same<typeof user_group.api_environment_tag, 'Customer' | 'Testing'>();
  const patched = await client.patch(
    'a',
    { mapping: { 40: null }, properties: { x: null } },
    { ifMatch: etag },
  );
  same<typeof patched.user_group, StoredUserGroup>();
  same<typeof patched.user_group.token, string | undefined>();
  // @ts-expect-error: an id is not changed.
  await client.patch('a', { user_group_id: 'b' });
  // @ts-expect-error: a name cannot be removed.
  await client.patch('a', { name: null });
  const deleted = await client.delete('a', { ifMatch: etag });
  same<typeof deleted, void>();
}

export async function tokens(): Promise<void> {
  const { user_group } = await client.rotate({ current_token: 'ugt_x', grace_period_seconds: 60 });
  same<typeof user_group.token, string>();
  // @ts-expect-error: which token?
  await client.rotate({});
  const { token, user_group: viewer } = await client.resolve('ugt_x');
  same<typeof token, TokenState>();
  if (token.status === 'retiring') same<typeof token.expires_at, string>();
  else same<typeof token.expires_at, null>();
  same<typeof viewer.mapping, Mapping | null>();
  // @ts-expect-error: who resolves a token gets none.
  viewer.token;
}

export async function lists(): Promise<void> {
  for await (const group of client.list({ search: 'a', limit: 10 })) {
    same<typeof group, ListedUserGroup>();
    // @ts-expect-error: a list has no tokens.
    group.token;
  }
  const page = await client.listPage({ cursor: 'x' }, { signal: new AbortController().signal });
  same<typeof page, Page>();
  // @ts-expect-error: a limit is a number.
  await client.listPage({ limit: '10' });
}

export function actOn(error: unknown): string {
  if (!(error instanceof UserGroupServiceError)) throw error;
  same<typeof error.code, ErrorCode>();
  same<typeof error.status, number | null>();
  switch (error.code) {
    case 'user_group_not_found':
    case 'network_error':
    case 'timeout':
      return error.message;
    // @ts-expect-error: no such code.
    case 'not_there':
      return '';
    default:
      return `${error.requestId}`;
  }
}

/** The platform's own fits; so does a function that gives only what is used. */
export const fetches: Fetch[] = [
  fetch,
  async (url, request) => fetch(new Request(url, request)),
  async () => ({ status: 200, headers: new Headers(), text: async () => '{}' }),
  // @ts-expect-error: nothing to read the answer from.
  async () => ({ status: 200 }),
];

// @ts-expect-error: an API token is needed.
new UserGroupClient({ url: 'http://127.0.0.1:8080' });
// @ts-expect-error: no such option.
new UserGroupClient({ url: 'http://127.0.0.1:8080', apiToken: 'x', timeout: 1 });
// @ts-expect-error: the API token cannot be read back.
client.apiToken;
