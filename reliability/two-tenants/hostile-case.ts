// A hostile case: what one tenant does to the service while another tenant works. To add one, add an entry to the table of
// its area.

import type { Flow } from './flow.ts';
import type { Tenant } from './tenant.ts';

export interface HostileCase {
  name: string;
  /** Stores what the attack needs, and returns what the attacker sends. */
  prepare: (attacker: Tenant) => Promise<readonly Flow[]> | readonly Flow[];
}
