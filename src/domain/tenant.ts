// A workspace holds one environment for customers and one for tests; each is a tenant.

export const environments = ['Customer', 'Testing'] as const;
export type Environment = (typeof environments)[number];

/** One workspace and environment. */
export interface Tenant {
  readonly workspaceId: number;
  readonly environment: Environment;
}

/** Drops the other members of a caller or a key. */
export function tenantOf({ workspaceId, environment }: Tenant): Tenant {
  return { workspaceId, environment };
}

export function isSameTenant(a: Tenant, b: Tenant): boolean {
  return a.workspaceId === b.workspaceId && a.environment === b.environment;
}

/** Returns a text that no other tenant has. */
export function tenantName({ workspaceId, environment }: Tenant): string {
  return `${workspaceId}/${environment}`;
}
