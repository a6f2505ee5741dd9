// One user group, as it looks in every example of the documentation.

export const REQUEST_ID = 'FsX-pj4u-6';
export const ETAG = '"1042-3"';

/** Of the form of a token; its checksum is wrong, so that no service takes it for one. */
export const TOKEN = `ugt_2Fh${'ExampleTokenDoNotUse'.repeat(3).slice(0, 43)}000000`;
const NEXT_TOKEN = `ugt_2Fh${'AnotherExampleToken'.repeat(3).slice(0, 43)}000000`;

const id = 'acme-7';
const name = 'Acme Inc.';
const mapping = { '40': '213' };
const properties = { plan: 'gold', seats: 25 };
const tag = { api_environment_tag: 'Customer' };

export const sent = { name, user_group_id: id, mapping, properties };
export const identity = { team_id: 1042, token: TOKEN, name, provided_id: id };
export const found = { ...identity, properties };
export const updated = { ...found, ...tag };
export const rotated = { ...identity, token: NEXT_TOKEN, ...tag };
export const resolved = { team_id: 1042, provided_id: id, name, properties, mapping, ...tag };
const times = { created_at: '2026-03-02T09:30:00.000Z', updated_at: '2026-03-05T16:04:12.345Z' };
const rest = { name, provided_id: id, mapping, properties, ...tag, version: 3, ...times };
export const listed = { team_id: 1042, ...rest };
export const stored = { team_id: 1042, token: TOKEN, ...rest };
