// Previews what a dashboard gets for a user group: its data sources, and the token of every integration.
// Read-only: does not update `last_seen_at` and returns no token.

import type { Caller } from '../../domain/api-token.ts';
import type { EffectiveMapping } from '../../domain/catalogue/catalogue.ts';
import { allowedResources, embedTokenPayload, refuseReserved } from '../../domain/embed-token/embed-token.ts';
import { GroupValues } from '../../domain/embed-token/template.ts';
import { type Integration, integrationDefinition } from '../../domain/integration.ts';
import type { JsonText } from '../../domain/json/strict-json.ts';
import type { Secret } from '../../domain/secret.ts';
import { type UserGroup, valuesLength } from '../../domain/user-group/user-group.ts';
import { Problem } from '../../problem.ts';
import { refuseLargeResolution } from '../catalogue/catalogue.ts';
import type { Context } from '../context.ts';
import { type EnvironmentConfig, findInConfig } from '../document/environment-config.ts';
import {
  type EmbedToken,
  findViewable,
  signEmbedToken,
  type TokenContent,
} from '../embed-token/embed-token.ts';
import { findIntegration } from '../integration/integration.ts';
import { findUserGroup } from './read.ts';

/** Parts of a token without its signature, which cannot be used as a credential. */
export interface DecodedToken {
  header: JsonText;
  payload: JsonText;
}

export interface Preview {
  integrationId: string;
  integration: Integration;
  /** Resources that a token may be for. */
  resources: readonly JsonText[];
  /** Result that the API would return, for the first resource if there are any. */
  outcome: DecodedToken | Problem;
}

interface GroupView {
  userGroup: UserGroup;
  config: EnvironmentConfig;
  /** null without a catalogue. */
  effective: EffectiveMapping | null;
  /** null for a suspended group, for which nothing is minted. */
  previews: readonly Preview[] | null;
}

/** Throws `user_group_not_found`, and `limit_reached` as resolve does. */
export async function viewAs(context: Context, caller: Caller, userGroupId: string): Promise<GroupView> {
  const { found: viewed, config } = await findInConfig(context, caller, async () => ({
    userGroup: await findUserGroup(context, caller, userGroupId),
  }));
  const { userGroup } = viewed;
  const effective = config.catalogue.isEmpty ? null : config.catalogue.effective(userGroup);
  if (effective !== null) refuseLargeResolution(effective);
  if (userGroup.suspendedAt !== null) return { userGroup, config, effective, previews: null };
  const previews: Preview[] = [];
  for (const id of config.ofKind(integrationDefinition.kind).keys()) {
    const found = findIntegration(config, id);
    previews.push(await previewToken(context, caller, { config, found, userGroup }));
  }
  return { userGroup, config, effective, previews };
}

async function previewToken(
  context: Context,
  caller: Caller,
  content: Pick<TokenContent, 'config' | 'found' | 'userGroup'>,
): Promise<Preview> {
  const { document, integration } = content.found;
  const preview = { integrationId: document.id, integration };
  let resources: JsonText[] = [];
  try {
    resources = allowedResources(integration, new GroupValues(content.userGroup));
    const [resource = null] = resources;
    const { token } = await signEmbedToken(context, caller, { ...content, ...ALL, resource, until: null });
    return { ...preview, resources, outcome: decode(token) };
  } catch (error) {
    return { ...preview, resources, outcome: asProblem(error) };
  }
}

/**
 * Returns the integrations that would mint nothing for the user group, because it lacks a value. Signs
 * nothing.
 */
export async function integrationsWithoutToken(
  { cpu }: Pick<Context, 'cpu'>,
  config: EnvironmentConfig,
  userGroup: UserGroup,
): Promise<string[]> {
  const values = new GroupValues(userGroup);
  const without: string[] = [];
  for (const id of config.ofKind(integrationDefinition.kind).keys()) {
    await cpu.turn(valuesLength(userGroup));
    if (!hasValues(findIntegration(config, id).integration, values, config)) without.push(id);
  }
  return without;
}

function hasValues(integration: Integration, values: GroupValues, { catalogue }: EnvironmentConfig): boolean {
  try {
    refuseReserved(integration, values.userGroup, catalogue);
    const [resource = null] = allowedResources(integration, values);
    embedTokenPayload({ integration, values, ...ALL, resource, issuer: '', issuedAt: 0, expiresAt: 0 });
    return true;
  } catch (error) {
    asProblem(error);
    return false;
  }
}

/** Neither for a particular viewer nor narrowed. */
const ALL = { viewer: null, narrow: null };

function asProblem(error: unknown): Problem {
  if (error instanceof Problem) return error;
  throw error;
}

const TEST_TOKEN_MS = 60_000;

interface TestToken extends DecodedToken, EmbedToken {}

/** Mints a token that is valid for a minute, to try out an integration. Throws as `mintEmbedToken` does. */
export async function mintTestToken(
  context: Context,
  caller: Caller,
  body: { integration: string; userGroupId: string; resource: JsonText | null },
): Promise<TestToken> {
  const { found: viewed, config } = await findInConfig(context, caller, async () => ({
    userGroup: await findViewable(context, caller, body.userGroupId),
  }));
  const { userGroup } = viewed;
  const found = findIntegration(config, body.integration);
  const until = context.clock() + TEST_TOKEN_MS;
  const content = { config, found, userGroup, ...ALL, resource: body.resource, until };
  const minted = await signEmbedToken(context, caller, content);
  return { ...minted, ...decode(minted.token) };
}

function decode(token: Secret): DecodedToken {
  const parts = token.reveal().split('.', 2);
  const [header, payload] = parts.map((part) => Buffer.from(part, 'base64url').toString() as JsonText);
  return { header: header!, payload: payload! };
}
