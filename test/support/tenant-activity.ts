import { TenantActivity } from '../../src/store/tenant-activity.ts';

/** Requests of two tenants have just arrived. */
export function severalTenants(): TenantActivity {
  const activity = new TenantActivity();
  activity.seen(1);
  activity.seen(2);
  return activity;
}
