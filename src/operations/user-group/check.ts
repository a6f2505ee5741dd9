// Checks the stored user groups of an environment against its catalogue and property schema, whatever the policies.

import type { Tenant } from '../../domain/event/event.ts';
import type { UserGroup } from '../../domain/user-group/user-group.ts';
import type { Violation } from '../../problem.ts';
import type { BatchingStore } from '../../store/batching-store.ts';
import { EnvironmentConfig } from '../document/environment-config.ts';
import { PropertyValidator } from '../property-schema/validator/validator.ts';
import { userGroupPages } from './export.ts';
import { violationsOf } from './violations.ts';

export interface CheckedPage {
  /** User groups checked so far. */
  checked: number;
  violations: readonly { userGroup: UserGroup; faults: readonly Violation[] }[];
}

export async function* checkUserGroups(store: BatchingStore, of: Tenant): AsyncGenerator<CheckedPage> {
  const { version, documents } = await store.read({ kind: 'findConfig', of });
  const config = new EnvironmentConfig(version, documents);
  const propertyValidator = new PropertyValidator();
  let checked = 0;
  try {
    for await (const page of userGroupPages(store, of)) {
      const faults = await violationsOf({ propertyValidator }, of, config, page);
      const violations = page
        .map((userGroup, index) => ({ userGroup, faults: faults[index]! }))
        .filter((each) => each.faults.length > 0);
      checked += page.length;
      yield { checked, violations };
    }
  } finally {
    await propertyValidator.close();
  }
}
