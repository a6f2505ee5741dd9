import type { HostileCase } from '../hostile-case.ts';
import { bodyCases } from './bodies.ts';
import { catalogueCases } from './catalogues.ts';
import { consoleCases } from './console.ts';
import { eventCases } from './events.ts';
import { largeGroupCases } from './large-groups.ts';
import { listCases } from './lists.ts';
import { ordinaryCases } from './ordinary.ts';
import { publicCases } from './public-paths.ts';
import { receiverCases } from './receivers.ts';
import { schemaCases } from './schemas.ts';
import { tokenCases } from './tokens.ts';
import { unreadCases } from './unread.ts';

export const hostileCases: readonly HostileCase[] = [
  ...ordinaryCases,
  ...bodyCases,
  ...largeGroupCases,
  ...schemaCases,
  ...receiverCases,
  ...catalogueCases,
  ...unreadCases,
  ...eventCases,
  ...publicCases,
  ...listCases,
  ...tokenCases,
  ...consoleCases,
];
