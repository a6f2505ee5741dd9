// Verdict on a user group in one sentence: whether the dashboards of this customer work, and why not.

import type { EffectiveMapping } from '../../domain/catalogue.ts';
import type { UserGroup } from '../../domain/user-group/user-group.ts';
import type { EnvironmentConfig } from '../../operations/document/environment-config.ts';
import { violationsOfProperties } from '../../operations/user-group/violations.ts';
import { badge, type Html, html } from '../html.ts';
import { environmentConfig, type PageCall } from '../page.ts';

/** Schemas that the sentence names. */
const NAMED = 3;

export async function verdict({ context, caller }: PageCall, userGroup: UserGroup): Promise<Html> {
  const config = await environmentConfig({ context, caller });
  const reasons = brokenReasons(config, userGroup);
  const [violations = []] = await violationsOfProperties(context, caller, config, [userGroup]);
  if (violations.length > 0)
    reasons.push(
      `${violations.length === 1 ? 'a property violates' : 'properties violate'} the property schema`,
    );
  if (reasons.length > 0)
    return html`<p class="verdict">${badge('bad', 'wrong')} Dashboards of this customer: ${reasons.join('; ')}.</p>`;
  const seen = config.catalogue.isEmpty
    ? 'get its mapping and properties as they are stored'
    : dataSourcesText(config.catalogue.effective(userGroup));
  return html`<p class="verdict">${badge('good', 'as configured')} Dashboards of this customer ${seen}.</p>`;
}

function brokenReasons({ catalogue }: EnvironmentConfig, userGroup: UserGroup): string[] {
  const reasons: string[] = [];
  if (userGroup.suspendedAt !== null) reasons.push('nothing is shown, because the user group is suspended');
  if (catalogue.isEmpty) return reasons;
  const effective = catalogue.effective(userGroup);
  const unresolved = effective.unresolved.map(({ schemaId }) => schemaId);
  if (unresolved.length > 0) reasons.push(`an error is shown for ${named(unresolved)}`);
  const unmapped = catalogue.unmapped(effective);
  if (unmapped.length > 0)
    reasons.push(`${named(unmapped)} ${unmapped.length === 1 ? 'has' : 'have'} no data source`);
  return reasons;
}

function dataSourcesText({ dataSources }: EffectiveMapping): string {
  const count = dataSources.size;
  return count === 0 ? 'read no data source' : `read ${count} data ${count === 1 ? 'source' : 'sources'}`;
}

function named(schemaIds: readonly string[]): string {
  const others = schemaIds.length - NAMED;
  const names = schemaIds.slice(0, NAMED).join(', ');
  return `${schemaIds.length === 1 ? 'the schema' : 'the schemas'} ${names}${others > 0 ? ` and ${others} more` : ''}`;
}
