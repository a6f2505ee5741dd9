import { TenantActivity } from '../../src/scheduling/tenant-activity.ts';

/** Returns an activity in which requests of two tenants have just arrived. */
export function severalTenants(): TenantActivity {
  const activity = new TenantActivity();
  seenAgain(activity);
  return activity;
}

/** Keeps both tenants active. */
export function seenAgain(activity: TenantActivity): void {
  activity.seen(1);
  activity.seen(2);
}
