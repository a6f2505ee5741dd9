// A hostile case: requests that one tenant sends to harm the service while another tenant works. To add a
// case, add an entry to the table of its area.

import type { CallName } from '../support/call.ts';
import type { Flow } from './flow.ts';
import type { Tenant } from './tenant.ts';

export interface HostileCase {
  name: string;
  /** Calls of the other tenant besides those that it always sends. */
  otherCalls?: readonly CallName[];
  /** Stores the data that the attack needs, and returns the requests that the attacker sends. */
  prepare: (attacker: Tenant) => Promise<readonly Flow[]> | readonly Flow[];
}
