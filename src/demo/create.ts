// Creates the demo in one environment, through the operations behind the API. Keeps what exists, so a
// repeated call completes an earlier one and overwrites no other data.

import { setTimeout as sleep } from 'node:timers/promises';
import type { Caller } from '../domain/api-token.ts';
import { SINGLETON_ID } from '../domain/document.ts';
import { integrationBody } from '../domain/embed-token/embed-token.ts';
import { jsonText } from '../domain/json/json-tree.ts';
import { putDataSource, putSchema } from '../operations/catalogue/catalogue.ts';
import type { Context } from '../operations/context.ts';
import { putIntegration } from '../operations/integration/integration.ts';
import { putPropertySchema } from '../operations/property-schema/put.ts';
import { getOrCreateUserGroup } from '../operations/user-group/get-or-create.ts';
import { Problem } from '../problem.ts';
import { type DemoCustomer, demoCustomers, demoIds, sampleDataSourceId, samples } from './sample-data.ts';
import { createSampleFiles } from './sample-file.ts';

/** The page of the console that shows the first customer. */
export const DEMO_PATH = `/console/user-groups/${demoCustomers[0].userGroupId}/view-as`;

const ONLY_CREATE = { ifNoneMatch: '*' } as const;
/** Attempts of a command on a machine that is too busy to check the properties in time. */
const ATTEMPTS = 20;
const PAUSE_MS = 500;

const propertySchema = {
  type: 'object',
  properties: {
    customer_id: {
      type: 'string',
      pattern: '^C-[0-9]{4}$',
      description: 'Selects the rows of the customer.',
    },
    region: { enum: ['EU', 'US'] },
    plan: { enum: ['silver', 'gold', 'platinum'] },
    seats: { type: 'integer', minimum: 1 },
  },
};

const integration = {
  type: 'jwt',
  settings: { audience: demoIds.integration, properties: ['customer_id', 'region', 'plan'] },
  claims: { customer: { property: 'customer_id' } },
};

/**
 * Creates the sample files in the directory, the catalogue, the property schema, an integration and the user
 * groups. Throws Node's error if a file cannot be created, and what the operations throw.
 */
export async function createDemo(context: Context, caller: Caller, directory: string): Promise<void> {
  createSampleFiles(directory);
  // Reads the configuration again, because each document changes it.
  const reader = { ...caller, configVersion: null };
  await Promise.all([
    // Generating its keys takes longer than everything else.
    unlessExists(createIntegration(context, reader)),
    createCatalogue(context, reader).then(() => createUserGroups(context, reader)),
  ]);
}

/** Creates the demo for a command, whose operator would otherwise have to repeat it on a busy machine. */
export async function createDemoPatiently(...demo: Parameters<typeof createDemo>): Promise<void> {
  for (let attempt = 1; ; attempt++)
    try {
      return await createDemo(...demo);
    } catch (error) {
      if (!(error instanceof Problem) || error.code !== 'overloaded' || attempt === ATTEMPTS) throw error;
      await sleep(PAUSE_MS);
    }
}

function createIntegration(context: Context, caller: Caller): Promise<unknown> {
  const body = integrationBody.read(Buffer.from(jsonText(integration)));
  return putIntegration(context, caller, demoIds.integration, body, ONLY_CREATE);
}

async function createCatalogue(context: Context, caller: Caller): Promise<void> {
  const schema = { name: 'Orders (demo)', default_data_source: null };
  const typed = { schema: jsonText(propertySchema), mode: 'enforce' } as const;
  const dataSources = samples.map((sample) => {
    const name = `Orders, ${sample.slice(-2).toUpperCase()} (demo)`;
    const attributes = jsonText({ demo: sample });
    const dataSource = { schema_id: demoIds.schema, name, attributes, user_group_id: null };
    return putDataSource(context, caller, sampleDataSourceId(sample), dataSource, ONLY_CREATE);
  });
  const created = [
    putSchema(context, caller, demoIds.schema, schema, ONLY_CREATE, false),
    putPropertySchema(context, caller, SINGLETON_ID, typed, ONLY_CREATE),
    ...dataSources,
  ];
  await Promise.all(created.map(unlessExists));
}

async function createUserGroups(context: Context, caller: Caller): Promise<void> {
  await Promise.all(
    demoCustomers.map((customer) => getOrCreateUserGroup(context, caller, groupBody(customer))),
  );
}

function groupBody({ userGroupId, name, sample, properties }: DemoCustomer) {
  const mapping = jsonText({ [demoIds.schema]: sampleDataSourceId(sample) });
  return { userGroupId, name, mapping, properties: jsonText(properties) };
}

/** Ignores a precondition that is not met: the document exists. */
async function unlessExists(created: Promise<unknown>): Promise<void> {
  try {
    await created;
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== 'version_mismatch') throw error;
  }
}
