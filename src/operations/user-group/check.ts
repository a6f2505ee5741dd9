// Checks the stored user groups of an environment against its catalogue and property schema, whatever its
// policies.

import type { Tenant } from '../../domain/tenant.ts';
import type { UserGroup } from '../../domain/user-group/user-group.ts';
import type { Violation } from '../../problem.ts';
import type { BatchingStore } from '../../store/batching-store.ts';
import { EnvironmentConfig } from '../document/environment-config.ts';
import { PropertyValidator } from '../property-schema/validator/validator.ts';
import { allUserGroupPages } from './export.ts';
import { groupViolations } from './violations.ts';

interface CheckedPage {
  /** User groups checked so far. */
  checked: number;
  /** User groups of the page with violations. */
  invalid: readonly { userGroup: UserGroup; violations: readonly Violation[] }[];
}

export async function* checkUserGroups(store: BatchingStore, tenant: Tenant): AsyncGenerator<CheckedPage> {
  const config = await EnvironmentConfig.read(store, tenant);
  await using propertyValidator = PropertyValidator.forCommand();
  let checked = 0;
  for await (const page of allUserGroupPages(store, tenant)) {
    const violations = await groupViolations({ propertyValidator }, tenant, config, page);
    const invalid = page
      .map((userGroup, index) => ({ userGroup, violations: violations[index]! }))
      .filter((each) => each.violations.length > 0);
    checked += page.length;
    yield { checked, invalid };
  }
}
