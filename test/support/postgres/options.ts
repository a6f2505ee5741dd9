// Options of the PostgreSQL adapter for a test that opens it without the service.

import { Secret } from '../../../src/domain/secret.ts';
import type { PostgresOptions } from '../../../src/store/postgres/client/options.ts';

export function optionsFor(url: string, overrides: Partial<PostgresOptions> = {}): PostgresOptions {
  return {
    urls: [new Secret(url)],
    poolSize: 1,
    connectTimeoutMs: 5_000,
    statementTimeoutMs: 20_000,
    sessionSettings: true,
    preparedStatements: true,
    ...overrides,
  };
}
