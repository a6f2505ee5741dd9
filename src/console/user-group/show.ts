import { isPermitted } from '../../domain/api-token.ts';
import type { Secret } from '../../domain/secret.ts';
import {
  previousTokenUntil,
  type UserGroup,
  valuesLength,
  versionTag,
} from '../../domain/user-group/user-group.ts';
import { userGroupIdParameter } from '../../http/request/path-parameter.ts';
import type { OpenUserGroup } from '../../operations/context.ts';
import { type EnvironmentConfig, findInConfig } from '../../operations/document/environment-config.ts';
import { revealToken } from '../../operations/user-group/reveal-token.ts';
import type { Problem } from '../../problem.ts';
import { lastEventsOfGroup } from '../event/last.ts';
import { actionForm, submit } from '../form/fields.ts';
import { confirmationProblem, versionField } from '../form/version.ts';
import {
  type ButtonKind,
  buttonTo,
  copyButton,
  definitions,
  type Html,
  html,
  lastUse,
  link,
  nameWithId,
  none,
  pathTo,
  time,
  visible,
} from '../markup/html.ts';
import { jsonBlock } from '../markup/json.ts';
import { type Page, type PageCall, READERS, type View, WRITERS } from '../page.ts';
import { mappedDataSources, NAME_COLUMNS } from './data-sources.ts';
import { groupIn, groupInConfig, statusBadge } from './group.ts';
import { lastUsage } from './usage.ts';
import { verdict } from './verdict.ts';

const EVENTS = 10;

export const show: Page = {
  method: 'GET',
  path: '/user-groups/:user_group_id',
  permissions: READERS,
  purpose: 'read user groups',
  handle: showStored,
};

/** Pages contain the token only after a person has asked for it, which is recorded. */
export const showToken: Page = {
  method: 'POST',
  path: '/user-groups/:user_group_id/token',
  permissions: WRITERS,
  purpose: 'see the tokens of user groups',
  handle: async (call) => {
    const { context, caller, request } = call;
    let shown: OpenUserGroup | undefined;
    const reveal = async () => {
      const isCurrent = shown && versionTag(await groupIn(call)) === versionTag(shown.userGroup);
      // Every call records an event.
      if (!isCurrent) shown = await revealToken(context, caller, userGroupIdParameter(request));
      return shown!;
    };
    const { found, config } = await findInConfig(context, caller, reveal);
    return showView(call, { ...found, config });
  },
};

/** Shows the group as it is now; `problem` says why an action on it failed. */
export async function showStored(call: PageCall, problem?: Problem): Promise<View> {
  return showView(call, { ...(await groupInConfig(call)), token: null }, problem);
}

interface Shown {
  userGroup: UserGroup;
  config: EnvironmentConfig;
  /** null unless the person asked for it. */
  token: Secret | null;
}

async function showView(
  call: PageCall,
  { userGroup, config, token }: Shown,
  problem?: Problem,
): Promise<View> {
  const { context } = call;
  const { providedId, name, properties } = userGroup;
  const events = await lastEventsOfGroup(call, providedId, EVENTS);
  const usage = await lastUsage(call, providedId);
  await context.cpu.turn(valuesLength(userGroup));
  return {
    title: nameWithId(name, providedId),
    heading: name,
    actions: actions(call, userGroup),
    main: html`${confirmationProblem('user group', problem)}
${await verdict(call, userGroup, config)}
${identity(call, userGroup, token)}
<h2>Data sources</h2>
${dataSources(userGroup, config)}
<h2>Properties</h2>
${properties === null ? none('No properties.') : jsonBlock(properties)}
<h2>Usage</h2>
${usage}
${events}
<p>${link(pathTo('user-groups', providedId, 'events'), 'All events of this user group')}</p>`,
  };
}

function actions({ caller, session }: PageCall, userGroup: UserGroup): Html {
  const group = pathTo('user-groups', userGroup.providedId);
  const button = (action: string, text: string, kind?: ButtonKind) =>
    buttonTo(`${group}/${action}`, text, kind);
  const viewAs = button('view-as', 'View as');
  if (!isPermitted(caller, WRITERS)) return viewAs;
  const version = versionField(versionTag(userGroup));
  return html`${button('edit', 'Edit', 'primary')} ${viewAs} ${button('rename', 'Rename')} ${button('rotate', 'Rotate token')} ${
    userGroup.suspendedAt === null
      ? button('suspend', 'Suspend')
      : actionForm(session, `${group}/resume`, html`${version}${submit('Resume', 'plain')}`)
  } ${button('delete', 'Delete', 'danger')}`;
}

function identity(call: PageCall, userGroup: UserGroup, token: Secret | null): Html {
  const { providedId, teamId, version, suspendedAt, lastSeenAt, createdAt, updatedAt } = userGroup;
  const suspension = html` since ${time(suspendedAt)}: its tokens resolve to nothing`;
  return definitions([
    ['Id', html`<code>${visible(providedId)}</code>${copyButton(providedId, 'id')}`],
    ['Status', html`${statusBadge(userGroup)}${suspendedAt === null ? '' : suspension}`],
    ...tokenRows(call, userGroup, token),
    ['Last seen', lastUse(lastSeenAt)],
    ['Created', time(createdAt)],
    ['Updated', html`${time(updatedAt)} (version ${version})`],
    ['Team id', teamId],
  ]);
}

function tokenRows(
  { context, caller, session }: PageCall,
  userGroup: UserGroup,
  token: Secret | null,
): [name: string, value: Html][] {
  const until = previousTokenUntil(userGroup, context.clock());
  const rows: [string, Html][] =
    until === null ? [] : [['Replaced token', html`resolves until ${time(until)}`]];
  if (!isPermitted(caller, WRITERS)) return rows;
  const group = pathTo('user-groups', userGroup.providedId);
  const value =
    token === null
      ? actionForm(session, `${group}/token`, submit('Show token', 'plain'))
      : html`<code tabindex="-1" autofocus>${token.reveal()}</code>${copyButton(token.reveal(), 'token')} ${link(group, 'Hide')}`;
  return [['Token', value], ...rows];
}

function dataSources(userGroup: UserGroup, config: EnvironmentConfig): Html {
  const { mapping } = userGroup;
  if (!config.catalogue.isEmpty) {
    return mappedDataSources(config, userGroup, NAME_COLUMNS);
  }
  return mapping === null
    ? none('No mapping.')
    : html`<p class="hint">This environment has no catalogue, so the mapping is shown as JSON.</p>${jsonBlock(mapping)}`;
}
