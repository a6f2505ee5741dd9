// The mutants, by the part of the source that they change.

import type { Mutant } from '../mutant.ts';
import { commands } from './commands.ts';
import { consolePages } from './console.ts';
import { domain } from './domain.ts';
import { embedTokens } from './embed-tokens.ts';
import { http } from './http.ts';
import { operations } from './operations.ts';
import { postgres } from './postgres.ts';
import { sqlite } from './sqlite.ts';
import { store } from './store.ts';
import { webhooks } from './webhooks.ts';

export const mutantsByArea: Record<string, readonly Mutant[]> = {
  domain,
  operations,
  store,
  sqlite,
  postgres,
  http,
  commands,
  'embed tokens': embedTokens,
  webhooks,
  console: consolePages,
};
