import { Command, Option } from 'commander';
import { documentTag } from '../domain/document.ts';
import { timestampOrNull } from '../domain/instant.ts';
import { type Environment, environments } from '../domain/tenant.ts';
import type { VersionTag } from '../domain/user-group/user-group.ts';
import type { WebhookEndpointKey } from '../domain/webhook-endpoint/delivery.ts';
import { parseWebhookEndpoint, type WebhookEndpoint } from '../domain/webhook-endpoint/webhook-endpoint.ts';
import { EnvironmentConfig } from '../operations/document/environment-config.ts';
import { disableEndpoint, giveUpDeliveries } from '../operations/webhook-endpoint/delivery.ts';
import { workspacePages } from '../operations/workspace/workspace.ts';
import type { BatchingStore } from '../store/batching-store.ts';
import type { EndpointHealth, Workspace } from '../store/port.ts';
import { commandContext } from './command-context.ts';
import { NotFound, UsageError } from './exit-code.ts';
import { type DatabaseOptions, type OpenDatabase, onDatabase } from './option/database-option.ts';
import { existingWorkspace, parseName } from './option/workspace-option.ts';
import { confirmByTyping } from './terminal/confirm.ts';
import { printList, printResult } from './terminal/output.ts';

/** Pending deliveries are counted up to this number: a receiver that is down may have millions. */
const MAX_PENDING = 10_000;

interface SelectionOptions {
  workspace?: string;
  allWorkspaces?: boolean;
  environment?: Environment;
}

type ListOptions = DatabaseOptions & SelectionOptions & { pending?: boolean };
type DisableOptions = DatabaseOptions & SelectionOptions & { yes?: boolean };

interface FoundEndpoint extends EndpointHealth {
  key: WebhookEndpointKey;
  workspace: string;
  endpoint: WebhookEndpoint;
  tag: VersionTag;
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
    .option('--pending', 'only endpoints with pending deliveries');
  return onDatabase(withSelection(command), ({ store }, options: ListOptions) =>
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
        'owner enables it again through the API. With --all-workspaces, disables every endpoint with the id, and asks for ' +
        'confirmation, unless --yes is set.',
    )
    .argument('<id>', 'id of the webhook endpoint, as shown by "webhook list"')
    .option('--yes', 'disable without asking for confirmation');
  return onDatabase(withSelection(command), async (database, options: DisableOptions, id: string) => {
    const found = await findEndpoints(database.store, id, options);
    if (options.allWorkspaces && !options.yes) await confirmDisabling(id, found);
    for (const each of found) await disable(database, each);
    const texts = found.map((each) => `Disabled ${describe(each)}.`);
    printResult(options, found.map(disabledFields), texts.join('\n'));
  });
}

function disabledFields({ key, workspace }: FoundEndpoint): object {
  return { workspace, environment: key.environment, id: key.endpointId, enabled: false };
}

function describe({ key, workspace }: FoundEndpoint): string {
  return `webhook endpoint ${key.endpointId} of workspace ${workspace}, ${key.environment}`;
}

/** Throws `NotFound`, and `UsageError` if the id is ambiguous. */
async function findEndpoints(
  store: BatchingStore,
  id: string,
  options: DisableOptions,
): Promise<FoundEndpoint[]> {
  const found: FoundEndpoint[] = [];
  for await (const page of endpointPages(store, options, id)) found.push(...page);
  if (found.length > 1 && !options.allWorkspaces)
    throw new UsageError(`webhook endpoint ${id} exists in both environments; name one with --environment`);
  if (found.length > 0) return found;
  throw new NotFound(
    `webhook endpoint ${id} does not exist there; run "webhook list --all-workspaces" to see all webhook endpoints`,
  );
}

function confirmDisabling(id: string, found: readonly FoundEndpoint[]): Promise<void> {
  const places = found.map((each) => `  ${describe(each)}\n`).join('');
  return confirmByTyping(
    id,
    `This disables:\n${places}Their pending deliveries are given up.\nType the id to confirm: `,
  );
}

async function disable(database: OpenDatabase, found: FoundEndpoint): Promise<void> {
  const { key, endpoint, tag } = found;
  if (endpoint.enabled && !(await disableEndpoint(commandContext(database), key, tag)))
    throw new UsageError(`${describe(found)} was changed at this moment; run the command again`);
  // The service gives up a delivery only when it is due.
  await giveUpDeliveries(database, key);
}

function withSelection(command: Command): Command {
  return command
    .option('--workspace <name>', 'workspace of the webhook endpoints', parseName)
    .addOption(new Option('--all-workspaces', 'webhook endpoints of all workspaces').conflicts('workspace'))
    .addOption(
      new Option(
        '--environment <environment>',
        'only webhook endpoints of this environment (default: both)',
      ).choices(environments),
    );
}

/** Yields the endpoints that the options select, or only those with one id, a page per environment. */
async function* endpointPages(
  store: BatchingStore,
  options: SelectionOptions & { pending?: boolean },
  id?: string,
): AsyncGenerator<FoundEndpoint[]> {
  for await (const workspace of selectedWorkspaces(store, options)) {
    for (const environment of options.environment ? [options.environment] : environments) {
      const all = await matchingEndpoints(store, workspace, environment, id);
      const page = options.pending ? all.filter(({ pendingDeliveries }) => pendingDeliveries > 0) : all;
      if (page.length > 0) yield page;
    }
  }
}

async function* selectedWorkspaces(
  store: BatchingStore,
  { workspace: name, allWorkspaces }: SelectionOptions,
): AsyncGenerator<Workspace> {
  if (allWorkspaces) {
    for await (const page of workspacePages(store)) yield* page;
    return;
  }
  if (name === undefined) throw new UsageError('name a workspace with --workspace, or use --all-workspaces');
  yield await existingWorkspace(store, name);
}

async function matchingEndpoints(
  store: BatchingStore,
  { workspaceId, name }: Workspace,
  environment: Environment,
  id: string | undefined,
): Promise<FoundEndpoint[]> {
  const config = await EnvironmentConfig.read(store, { workspaceId, environment });
  const endpoints = [...config.ofKind('webhook_endpoint').values()];
  const wanted = endpoints.filter((each) => id === undefined || each.id === id);
  return Promise.all(
    wanted.map(async (document) => {
      const key = { workspaceId, environment, endpointId: document.id };
      const health = await store.read({ kind: 'findEndpointHealth', endpoint: key, atMost: MAX_PENDING });
      const endpoint = parseWebhookEndpoint(document);
      return { key, workspace: name, endpoint, tag: documentTag(document), ...health };
    }),
  );
}
