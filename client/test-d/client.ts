// Compiled, never run: tests which arguments the types of the client accept and reject, and the types of results.

import {
  type ApiToken,
  type DataSource,
  type ErrorCode,
  type Fetch,
  type Integration,
  type IssuedApiToken,
  type ListedUserGroup,
  type Mapping,
  type Page,
  type Properties,
  type PropertySchema,
  type ResolvedDataSource,
  type Schema,
  type StoredUserGroup,
  type TokenState,
  UserGroupClient,
  type UserGroupRequest,
  UserGroupServiceError,
} from '../src/index.ts';

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;

/** As in Node, Deno and Bun, whose types this project does not include. */
declare const process: { env: { readonly [name: string]: string | undefined } };

/** Compiles only if the two types are identical. */
function same<A, B>(..._proof: Equal<A, B> extends true ? [] : [never]): void {}

const client = new UserGroupClient({ url: 'http://127.0.0.1:8080', apiToken: 'uga_x' });

export async function replace(): Promise<void> {
  const { user_group, new_user_group, etag } = await client.replace('a', { name: 'Acme', mapping: null });
  same<typeof new_user_group, boolean>();
  same<typeof user_group, StoredUserGroup>();
  await client.replace('a', { name: 'Acme' }, { ifMatch: etag });
  await client.replace('a', { name: 'Acme' }, { ifNoneMatch: '*' });
  // @ts-expect-error: the name is required.
  await client.replace('a', { properties: {} });
  // @ts-expect-error: the id is not part of the body.
  await client.replace('a', { user_group_id: 'a', name: 'Acme' });
  // @ts-expect-error: JSON has no dates.
  await client.replace('a', { name: 'Acme', properties: { since: new Date() } });
}

export async function rotateById(): Promise<void> {
  const { user_group, etag } = await client.rotateById('a');
  same<typeof user_group, StoredUserGroup>();
  await client.rotateById('a', { gracePeriodSeconds: 60, ifMatch: etag });
  // @ts-expect-error: seconds are a number.
  await client.rotateById('a', { gracePeriodSeconds: '60' });
}

export async function rename(): Promise<void> {
  const { user_group, etag } = await client.rename('a', 'b');
  same<typeof user_group.provided_id, string>();
  await client.rename('b', 'c', { ifMatch: etag });
  // @ts-expect-error: the new id is required.
  await client.rename('a');
}

export async function suspend(): Promise<void> {
  const { user_group, etag } = await client.suspend('a');
  same<typeof user_group, StoredUserGroup>();
  same<typeof user_group.suspended, boolean>();
  same<typeof user_group.last_seen_at, string | null>();
  await client.resume('a', { ifMatch: etag });
  const query = { match: 'contains', search: 'a', suspended: true, data_source: 213 } as const;
  await client.listPage({ ...query, seen_before: '2026-03-05T16:00:00Z' });
  // @ts-expect-error: a search matches by prefix or contains.
  await client.listPage({ search: 'a', match: 'regex' });
  // @ts-expect-error: a boolean, not its text.
  await client.listPage({ suspended: 'true' });
}

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
  // @ts-expect-error: the response to this call has no mapping.
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
  // @ts-expect-error: values of a mapping are strings or numbers.
  await client.getOrCreate({ user_group_id: 'a', mapping: { 40: { id: 213 } } });
  // @ts-expect-error: JSON has no dates.
  await client.getOrCreate({ user_group_id: 'a', properties: { since: new Date() } });
  // @ts-expect-error: JSON has no big integers.
  await client.getOrCreate({ user_group_id: 'a', properties: { seats: 1n } });
  // @ts-expect-error: get-or-create does not support If-Match.
  await client.getOrCreate({ user_group_id: 'a' }, { ifMatch: etag });
  await client.getOrCreate({ user_group_id: 'a', name: 'Acme' }, { ifNoneMatch: '*' });
  // @ts-expect-error: the only value of If-None-Match is "*".
  await client.getOrCreate({ user_group_id: 'a', name: 'Acme' }, { ifNoneMatch: etag });
}

interface Plan {
  plan: string;
  seats: number;
  features?: { beta: boolean; tags: string[] };
}

interface SalesMapping {
  sales: string;
  40: number;
}

/** A number type that a custom codec may produce. */
declare class ExactNumber {
  toString(): string;
}

/** A recursive type. */
interface Region {
  name: string;
  parts?: readonly Region[];
}

export async function typedProperties(plan: Plan, mapping: SalesMapping, region: Region): Promise<void> {
  // An interface is accepted without a type argument; the stored type may differ from the sent type.
  const group = { user_group_id: 'a', name: 'A', properties: plan, mapping };
  const untyped = await client.getOrCreate(group);
  same<typeof untyped.user_group.properties, Properties | null | undefined>();
  await client.update(group);
  await client.patch('a', { properties: plan, mapping });
  await client.update<Region>({ user_group_id: 'a', properties: region });
  await client.update({ user_group_id: 'a', properties: region });
  await client.patch<Region>('a', { properties: { parts: [region] } });
  const request: UserGroupRequest<Plan> = { user_group_id: 'a', properties: plan };
  await client.getOrCreate(request);

  const created = await client.getOrCreate<Plan>({ user_group_id: 'a', name: 'A', properties: plan });
  same<typeof created.user_group.properties, Plan | null | undefined>();
  const updated = await client.update<Plan>({ user_group_id: 'a', properties: { plan: 'gold', seats: 1 } });
  same<typeof updated.user_group.properties, Plan | null>();
  const patched = await client.patch<Plan>('a', { properties: { seats: 2, features: { beta: null } } });
  same<typeof patched.user_group.properties, Plan | null>();
  const read = await client.read<Plan>('a');
  same<typeof read.user_group.properties, Plan | null>();
  const viewer = await client.resolve<Plan>('ugt_x');
  same<typeof viewer.user_group.properties, Plan | null>();
  for await (const listed of client.list<Plan>()) same<typeof listed.properties, Plan | null>();
  const page = await client.listPage<Plan>();
  same<typeof page, Page<Plan>>();
  const exact = await client.resolve<{ seats: ExactNumber }>('ugt_x');
  same<typeof exact.user_group.properties, { seats: ExactNumber } | null>();
}

interface Since {
  since: Date;
}

export async function properties(since: Since, numbers: { seats: number }[]): Promise<void> {
  // @ts-expect-error: seats is missing.
  await client.update<Plan>({ user_group_id: 'a', properties: { plan: 'gold' } });
  // @ts-expect-error: Plan has no member of this name.
  await client.update<Plan>({ user_group_id: 'a', properties: { plan: 'gold', seats: 1, extra: true } });
  // @ts-expect-error: seats is a number.
  await client.patch<Plan>('a', { properties: { seats: 'many' } });
  // @ts-expect-error: Plan has no member of this name.
  await client.patch<Plan>('a', { properties: { extra: true } });
  // @ts-expect-error: JSON has no dates, nor in an interface.
  await client.getOrCreate({ user_group_id: 'a', properties: since });
  // @ts-expect-error: JSON has no dates, nor with a type argument.
  await client.update<Since>({ user_group_id: 'a', properties: since });
  // @ts-expect-error: JSON has no functions.
  await client.patch('a', { properties: { call: () => 1 } });
  // @ts-expect-error: JSON has no maps.
  await client.update({ user_group_id: 'a', properties: { deep: [new Map()] } });
  // @ts-expect-error: unknown may be anything.
  await client.update({ user_group_id: 'a', properties: { deep: {} as unknown } });
  // @ts-expect-error: properties must be an object.
  await client.update({ user_group_id: 'a', properties: numbers });
  // @ts-expect-error: properties must be an object.
  await client.update({ user_group_id: 'a', properties: 'gold' });
  // @ts-expect-error: values of a mapping are strings or numbers, also in an interface.
  await client.update({ user_group_id: 'a', mapping: since });
  // @ts-expect-error: a type argument does not permit unknown fields.
  await client.getOrCreate<Plan>({ user_group_id: 'a', nmae: 'A' });
  // @ts-expect-error: stored properties are an object.
  await client.resolve<string>('ugt_x');
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
  // @ts-expect-error: an id cannot be changed.
  await client.patch('a', { user_group_id: 'b' });
  // @ts-expect-error: a name cannot be removed.
  await client.patch('a', { name: null });
  const deleted = await client.delete('a', { ifMatch: etag });
  same<typeof deleted, void>();
}

export async function tokens(): Promise<void> {
  const { user_group } = await client.rotate({ current_token: 'ugt_x', grace_period_seconds: 60 });
  await client.rotate({ current_token: 'ugt_x' }, { ifMatch: '"1-1"' });
  same<typeof user_group.token, string>();
  // @ts-expect-error: the current token is missing.
  await client.rotate({});
  const { token, user_group: viewer } = await client.resolve('ugt_x');
  same<typeof token, TokenState>();
  same<typeof token.status, 'current' | 'retiring' | 'embed'>();
  same<typeof token.expires_at, string | null>();
  same<typeof viewer.mapping, Mapping | null>();
  // @ts-expect-error: resolving does not return the user group token.
  viewer.token;
  // A viewer may present no token.
  await client.resolve(new URLSearchParams().get('token'));
  await client.resolve(undefined);
  // @ts-expect-error: a token is a string.
  await client.resolve(7);
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

export async function apiTokens(): Promise<void> {
  const issued = await client.createApiToken({ name: 'wall', permission: 'resolve', expires_in_seconds: 60 });
  same<typeof issued, IssuedApiToken>();
  same<typeof issued.token, string>();
  // @ts-expect-error: the name is required.
  await client.createApiToken({ permission: 'resolve' });
  // @ts-expect-error: no such permission.
  await client.createApiToken({ name: 'wall', permission: 'owner' });
  await client.rotateApiToken(issued.api_token_id, { gracePeriodSeconds: 60 });
  // @ts-expect-error: an API token has no version.
  await client.rotateApiToken(issued.api_token_id, { ifMatch: '"1-1"' });
  // @ts-expect-error: an id is a number, not the text.
  await client.revokeApiToken(issued.token);
  for await (const apiToken of client.listApiTokens({ limit: 10 })) {
    same<typeof apiToken, ApiToken>();
    // @ts-expect-error: a list has no texts.
    apiToken.token;
  }
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

/** Accepts the `fetch` of the platform and functions that return only the required members. */
export const fetches: Fetch[] = [
  fetch,
  async (url, request) => fetch(new Request(url, request)),
  async () => ({ status: 200, headers: new Headers(), text: async () => '{}' }),
  // @ts-expect-error: headers and text are missing.
  async () => ({ status: 200 }),
];

// An environment variable may be unset: the types permit it, and the constructor throws.
new UserGroupClient({ url: process.env.USER_GROUPS_URL, apiToken: process.env.API_TOKEN });
// @ts-expect-error: an API token is required.
new UserGroupClient({ url: 'http://127.0.0.1:8080' });
// @ts-expect-error: no such option.
new UserGroupClient({ url: 'http://127.0.0.1:8080', apiToken: 'x', timeout: 1 });
// @ts-expect-error: the API token cannot be read back.
client.apiToken;

export async function webhooks(): Promise<void> {
  const { secret, etag } = await client.putWebhookEndpoint('a', {
    url: 'https://a.example/',
    event_types: ['*'],
  });
  same<typeof secret, string | undefined>();
  await client.putWebhookEndpoint('a', {
    url: 'https://a.example/',
    event_types: ['newer.type'],
    enabled: false,
  });
  const rotated = await client.rotateWebhookSecret('a', { ifMatch: etag });
  same<typeof rotated.secret, string>();
  for await (const { enabled } of client.listWebhookEndpoints({ limit: 2 })) same<typeof enabled, boolean>();
  for await (const { state } of client.listWebhookDeliveries('a'))
    same<typeof state, 'pending' | 'delivered' | 'failed'>();
  // @ts-expect-error: the types of event are required.
  await client.putWebhookEndpoint('a', { url: 'https://a.example/' });
}

export async function embedTokens(): Promise<void> {
  const { token, url } = await client.createEmbedToken({
    integration: 'a',
    user_group_id: 'b',
    resource: { dashboard: 7 },
  });
  same<typeof token, string>();
  same<typeof url, string | undefined>();
  // @ts-expect-error: either a token or an id.
  await client.createEmbedToken({ integration: 'a' });
  await client.createEmbedToken({ integration: 'a', token: process.env.TOKEN });
  // @ts-expect-error: not both.
  await client.createEmbedToken({ integration: 'a', token: 'b', user_group_id: 'c' });
  const request = { integration: 'a', user_group_id: 'b' };
  const narrow: { countries?: string[] | undefined } = {};
  await client.createEmbedToken({ ...request, narrow: { countries: ['DE'] } });
  // @ts-expect-error: an undefined value would not narrow the token.
  await client.createEmbedToken({ ...request, narrow: { countries: narrow.countries } });
  // @ts-expect-error: an absent one neither.
  await client.createEmbedToken({ ...request, narrow });
  const put = await client.integrations.put('a', {
    type: 'jwt',
    settings: { audience: 'b' },
    claims: { c: { property: 'd' } },
  });
  same<typeof put, { integration: Integration; etag: string }>();
  for await (const listed of client.integrations.list({ limit: 2 })) same<typeof listed, Integration>();
  const settings = { audience: 'b' };
  // @ts-expect-error: no such template.
  await client.integrations.put('a', { type: 'jwt', settings, claims: { c: { sql: 'd' } } });
  const two = { property: 'd', field: 'name' } as const;
  // @ts-expect-error: not two templates.
  await client.integrations.put('a', { type: 'jwt', settings, claims: { c: two } });
  // @ts-expect-error: no such setting.
  await client.integrations.put('a', { type: 'jwt', settings: { audience: 'b', flatt: true } });
  // @ts-expect-error: the audience is required.
  await client.integrations.put('a', { type: 'jwt', settings: {} });
  // @ts-expect-error: a setting of another type.
  await client.integrations.put('a', { type: 'metabase', settings: { audience: 'b' } });
  const resources = [{ dashboard: 7 }, { question: 'q' }];
  await client.integrations.put('a', { type: 'metabase', settings: { url: 'https://m.example', resources } });
  const chosen = { resources: { property: 'dashboards' } };
  await client.integrations.put('a', { type: 'lightdash', settings: chosen, claims: {} });
  // @ts-expect-error: one dashboard or one question.
  await client.integrations.put('a', { type: 'metabase', settings: { url: '', resources: [{ page: 1 }] } });
  const { signing_keys } = await client.rotateSigningKeys({ revoke: true });
  same<(typeof signing_keys)[number]['status'], 'pending' | 'signing' | 'retiring'>();
}

export async function catalogue(): Promise<void> {
  const { schema, etag } = await client.schemas.put('40', { name: 'Orders', default_data_source: null });
  same<typeof schema, Schema>();
  await client.schemas.delete('40', { ifMatch: etag });
  // @ts-expect-error: the name is required.
  await client.schemas.put('40', {});
  // @ts-expect-error: the id is not part of the document.
  await client.schemas.put('40', { schema_id: '40', name: 'Orders' });
  const { data_source } = await client.dataSources.put(
    'a',
    { schema_id: '40', name: 'A', attributes: { ports: [5432] } },
    { ifNoneMatch: '*' },
  );
  same<typeof data_source, DataSource>();
  // @ts-expect-error: JSON has no dates.
  await client.dataSources.put('a', { schema_id: '40', name: 'A', attributes: { since: new Date() } });
  for await (const listed of client.dataSources.list({ limit: 10 })) same<typeof listed, DataSource>();
  const { mapping_policy } = await client.mappingPolicy.put({ mode: 'report' });
  same<typeof mapping_policy.mode, 'off' | 'report' | 'enforce'>();
  // @ts-expect-error: no such mode.
  await client.mappingPolicy.put({ mode: 'on' });
  // @ts-expect-error: there always is a mapping policy.
  await client.mappingPolicy.delete();
  const { property_schema } = await client.propertySchema.read();
  same<typeof property_schema, PropertySchema>();
  await client.propertySchema.put({ schema: { type: 'object', required: ['plan'] }, mode: 'enforce' });
  await client.propertySchema.delete({ ifMatch: etag });

  const { data_sources, unresolved } = await client.resolve('ugt_x');
  // A schema may have no data source.
  same<NonNullable<typeof data_sources>[string], ResolvedDataSource | undefined>();
  // @ts-expect-error: without a catalogue there is none.
  unresolved.length;
  const { violations } = await client.update({ user_group_id: 'a', name: 'A' });
  same<typeof violations, string[]>();
}

export async function config(): Promise<void> {
  const { config, config_version } = await client.readConfig();
  // @ts-expect-error: the name of an environment variable is not a secret.
  await client.applyConfig(config);
  await client.applyConfig({ version: 1, schemas: config.schemas ?? {} }, { configVersion: config_version });
  const integrations = Object.fromEntries(
    Object.entries(config.integrations).map(([id, { secret: _, ...integration }]) => [id, integration]),
  );
  await client.applyConfig({ ...config, integrations });
}

export async function events(): Promise<void> {
  for await (const { request_id } of client.events({ request_id: 'r-1' }))
    same<typeof request_id, string | null>();
}
