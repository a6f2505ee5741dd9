// Fills the database of each customer, and tells the service which one belongs to whom. Can be repeated.

import { UserGroupClient } from 'user-group-service-client';
import { connections } from './connections.js';

const { SERVICE_URL, API_TOKEN } = process.env;

const client = new UserGroupClient({ url: SERVICE_URL, apiToken: API_TOKEN });

const customers = {
  acme: { name: 'Acme', properties: { regions: ['EMEA'], since: '2026-01-01' }, amounts: [100, 120, 90] },
  globex: { name: 'Globex', properties: { regions: ['APAC'], since: '2026-02-01' }, amounts: [7, 8, 9] },
};

/** Months from January 2026 on; the amounts of APAC are one higher. */
const FILL = `
  insert into orders
  select region, date '2026-01-15' + (index - 1) * interval '1 month', amount + (region = 'APAC')::int
  from unnest($1::numeric[]) with ordinality amounts (amount, index), unnest(array['EMEA', 'APAC']) region`;

await client.schemas.put('orders', { name: 'Orders' });
for (const [id, { name, properties, amounts }] of Object.entries(customers)) {
  const source = `${id}-orders`;
  const database = connections.get(source);
  await database.query('drop table if exists orders');
  await database.query('create table orders (region text, ordered_on date, amount numeric)');
  await database.query(FILL, [amounts]);
  await database.end();
  // The name of a secret, never the secret.
  await client.dataSources.put(source, {
    schema_id: 'orders',
    name: `Orders of ${name}`,
    attributes: { secret_name: source },
    // Reserved: a mapping of another customer to it, such as by a typo, is an error.
    user_group_id: id,
  });
  await client.replace(id, { name, mapping: { orders: source }, properties });
}
// From now on, a mapping to a data source that does not exist is rejected.
await client.mappingPolicy.put({ mode: 'enforce' });
console.log('ready');
