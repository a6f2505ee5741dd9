import { Command, Option } from 'commander';
import { documentTag } from '../domain/document.ts';
import { timestampOrNull } from '../domain/instant.ts';
import { type Environment, environments } from '../domain/tenant.ts';
import type { WebhookEndpointKey } from '../domain/webhook-endpoint/delivery.ts';
import { parseWebhookEndpoint, type WebhookEndpoint } from '../domain/webhook-endpoint/webhook-endpoint.ts';
import { EnvironmentConfig } from '../operations/document/environment-config.ts';
import { disableEndpoint, giveUpDeliveries } from '../operations/webhook-endpoint/delivery.ts';
import { endpointKey } from '../operations/webhook-endpoint/webhook-endpoint.ts';
import { workspacePages } from '../operations/workspace/workspace.ts';
import type { BatchingStore } from '../store/batching-store.ts';
import type { EndpointHealth, Workspace } from '../store/port.ts';
import { commandContext } from './command-context.ts';
import { NotFound, UsageError } from './exit-code.ts';
import { type DatabaseOptions, onDatabase } from './option/database-option.ts';
import {
  existingWorkspace,
  onPlace,
  type Place,
  type PlaceOptions,
  parseName,
} from './option/workspace-option.ts';
import { printList, printResult } from './terminal/output.ts';

/** Pending deliveries are counted up to this number: a receiver that is down may have millions. */
const MAX_PENDING = 10_000;

type ListOptions = DatabaseOptions & {
  workspace?: string;
  allWorkspaces?: boolean;
  environment?: Environment;
  pending?: boolean;
};

interface FoundEndpoint extends EndpointHealth {
  key: WebhookEndpointKey;
  workspace: string;
  endpoint: WebhookEndpoint;
}

export function webhookCommand(): Command {
  return new Command('webhook')
    .summary('list and disable webhook endpoints')
    .description(
      'Webhook endpoints receive the events of a workspace and environment. These commands can run while the service is ' +
        'running; changes take effect with its next delivery.',
    )
    .addCommand(listCommand())
    .addCommand(disableCommand());
}

function listCommand(): Command {
  const command = new Command('list')
    .summary('list webhook endpoints with their pending deliveries')
    .description(
      'Lists webhook endpoints, with the first failure since the last success and the number of pending deliveries, ' +
        `counted up to ${MAX_PENDING}.`,
    )
    .option('--pending', 'only endpoints with pending deliveries')
    .option('--workspace <name>', 'workspace of the webhook endpoints', parseName)
    .addOption(new Option('--all-workspaces', 'webhook endpoints of all workspaces').conflicts('workspace'))
    .addOption(
      new Option(
        '--environment <environment>',
        'only webhook endpoints of this environment (default: both)',
      ).choices(environments),
    );
  return onDatabase(command, ({ store }, options: ListOptions) =>
    printList(options, endpointPages(store, options), listedFields, {
      WORKSPACE: 'workspace',
      ENVIRONMENT: 'environment',
      ID: 'id',
      STATUS: ({ enabled }) => (enabled ? 'enabled' : 'disabled'),
      PENDING: 'pending_deliveries',
      'FAILING SINCE': 'failing_since',
      URL: 'url',
    }),
  );
}

function listedFields({ key, workspace, endpoint, pendingDeliveries, failingSince }: FoundEndpoint) {
  return {
    workspace,
    workspace_id: key.workspaceId,
    environment: key.environment,
    id: key.endpointId,
    url: endpoint.url,
    enabled: endpoint.enabled,
    pending_deliveries: pendingDeliveries,
    failing_since: timestampOrNull(failingSince),
  };
}

function disableCommand(): Command {
  const command = new Command('disable')
    .summary('disable a webhook endpoint: it gets no events, and its pending deliveries are given up')
    .description(
      'Disables a webhook endpoint, for example because its receiver is down. Its pending deliveries are given up. Its ' +
        'owner enables it again through the API.',
    )
    .argument('<id>', 'id of the webhook endpoint, as shown by "webhook list"');
  return onPlace(command, 'the webhook endpoint', disable);
}

async function disable(place: Place, options: PlaceOptions, id: string): Promise<void> {
  const { store, caller } = place;
  const { workspace, environment } = options;
  const key = endpointKey(caller, id);
  const document = (await EnvironmentConfig.read(store, caller)).ofKind('webhook_endpoint').get(id);
  if (document === undefined)
    throw new NotFound(
      `webhook endpoint ${id} does not exist in workspace ${workspace}, ${environment}; run "webhook list --all-workspaces" to see all webhook endpoints`,
    );
  const name = `webhook endpoint ${id} of workspace ${workspace}, ${environment}`;
  const { enabled } = parseWebhookEndpoint(document);
  if (enabled && !(await disableEndpoint(commandContext(place), key, documentTag(document))))
    throw new UsageError(`${name} was changed at this moment; run the command again`);
  // The service gives up a delivery only when it is due.
  await giveUpDeliveries(place, key);
  printResult(options, { workspace, environment, id, enabled: false }, `Disabled ${name}.`);
}

/** Yields the endpoints that the options select, a page per environment. */
async function* endpointPages(store: BatchingStore, options: ListOptions): AsyncGenerator<FoundEndpoint[]> {
  for await (const workspace of selectedWorkspaces(store, options)) {
    for (const environment of options.environment ? [options.environment] : environments) {
      const all = await endpointsOf(store, workspace, environment);
      const page = options.pending ? all.filter(({ pendingDeliveries }) => pendingDeliveries > 0) : all;
      if (page.length > 0) yield page;
    }
  }
}

async function* selectedWorkspaces(
  store: BatchingStore,
  { workspace: name, allWorkspaces }: ListOptions,
): AsyncGenerator<Workspace> {
  if (allWorkspaces) {
    for await (const page of workspacePages(store)) yield* page;
    return;
  }
  if (name === undefined) throw new UsageError('name a workspace with --workspace, or use --all-workspaces');
  yield await existingWorkspace(store, name);
}

async function endpointsOf(
  store: BatchingStore,
  { workspaceId, name }: Workspace,
  environment: Environment,
): Promise<FoundEndpoint[]> {
  const config = await EnvironmentConfig.read(store, { workspaceId, environment });
  return Promise.all(
    Array.from(config.ofKind('webhook_endpoint').values(), async (document) => {
      const key = endpointKey(document, document.id);
      const health = await store.read({ kind: 'findEndpointHealth', endpoint: key, atMost: MAX_PENDING });
      return { key, workspace: name, endpoint: parseWebhookEndpoint(document), ...health };
    }),
  );
}
