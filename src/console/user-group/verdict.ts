// Verdict on a user group in one sentence: whether the dashboards of this customer work, and why not.

import type { EffectiveMapping } from '../../domain/catalogue/catalogue.ts';
import { parsePointer } from '../../domain/json/strict-json.ts';
import type { UserGroup } from '../../domain/user-group/user-group.ts';
import type { EnvironmentConfig } from '../../operations/document/environment-config.ts';
import { integrationsWithoutToken } from '../../operations/user-group/view-as.ts';
import { violationsOfProperties } from '../../operations/user-group/violations.ts';
import type { Violation } from '../../problem.ts';
import { badge, bdi, type Html, html, joined } from '../markup/html.ts';
import type { PageCall } from '../page.ts';

/** Maximum number of things of a kind that the sentence names. */
const NAMED = 3;

export async function verdict(
  { context, caller }: PageCall,
  userGroup: UserGroup,
  config: EnvironmentConfig,
): Promise<Html> {
  const reasons = brokenReasons(config, userGroup);
  const [violations = []] = await violationsOfProperties(context, caller, config, [userGroup]);
  if (violations.length > 0) reasons.push(propertiesText(violations));
  const withoutToken =
    userGroup.suspendedAt === null ? await integrationsWithoutToken(context, config, userGroup) : [];
  if (withoutToken.length > 0)
    reasons.push(
      html`no token can be minted for ${withNouns(withoutToken, 'the integration', 'the integrations')}, because a value is missing or invalid`,
    );
  if (reasons.length > 0)
    return html`<p class="verdict">${badge('bad', 'wrong')} Dashboards of this customer: ${joined(reasons, '; ')}.</p>`;
  const seen = config.catalogue.isEmpty
    ? html`get its mapping and properties as they are stored`
    : dataSourcesText(config.catalogue.effective(userGroup));
  return html`<p class="verdict">${badge('good', 'as configured')} Dashboards of this customer ${seen}.</p>`;
}

function brokenReasons({ catalogue }: EnvironmentConfig, userGroup: UserGroup): Html[] {
  const reasons: Html[] = [];
  if (userGroup.suspendedAt !== null)
    reasons.push(html`nothing is shown, because the user group is suspended`);
  if (catalogue.isEmpty) return reasons;
  const effective = catalogue.effective(userGroup);
  const unresolved = effective.unresolved.map(({ schemaId }) => schemaId);
  if (unresolved.length > 0) reasons.push(html`an error is shown for ${named(unresolved)}`);
  const unmapped = catalogue.unmapped(effective);
  if (unmapped.length > 0)
    reasons.push(html`${named(unmapped)} ${unmapped.length === 1 ? 'has' : 'have'} no data source`);
  return reasons;
}

function propertiesText(violations: readonly Violation[]): Html {
  const members = violations.map(({ pointer }) => parsePointer(pointer)[1]);
  const names = [...new Set(members)].filter((name) => name !== undefined);
  if (names.length === 0) return html`the properties violate the property schema`;
  const subject = withNouns(names, 'the property', 'the properties');
  return html`${subject} ${names.length === 1 ? 'violates' : 'violate'} the property schema`;
}

function dataSourcesText({ dataSources }: EffectiveMapping): Html {
  const ids = [...dataSources.values()].map(({ providedId }) => providedId);
  return ids.length === 0
    ? html`read no data source`
    : html`read ${withNouns(ids, 'the data source', 'the data sources')}`;
}

function named(schemaIds: readonly string[]): Html {
  return withNouns(schemaIds, 'the schema', 'the schemas');
}

function withNouns(ids: readonly string[], one: string, several: string): Html {
  const others = ids.length - NAMED;
  const names = joined(ids.slice(0, NAMED).map(bdi), ', ');
  return html`${ids.length === 1 ? one : several} ${names}${others > 0 ? ` and ${others} more` : ''}`;
}
