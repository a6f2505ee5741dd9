// Checks the database and whether the key ring fits it. Changes neither.

import { statSync } from 'node:fs';
import type { Config } from '../../config.ts';
import { inspectDatabase } from '../../database.ts';
import { digestToken } from '../../domain/token.ts';
import { isKeyFilePending, keyFilePath, readKeyRing } from '../../key-ring-source.ts';
import { BOOTSTRAP_REMEDY, whyUnusable } from '../../operations/api-token/bootstrap.ts';
import { decryptSample } from '../../operations/database/decrypt-sample.ts';
import type { Finding, Inspection } from '../../store/inspection.ts';
import { counted } from '../terminal/output.ts';
import {
  attempt,
  type Check,
  type CheckResult,
  failed,
  GIVE_ACCESS,
  ok,
  SEE_REASONS,
  skipped,
  warning,
} from './check.ts';

const TOKENS_PER_KEY = 20;
const CLOCK_WARNING_MS = 1_000;
const CLOCK_FAILURE_MS = 5_000;

export async function checkDatabase(config: Config): Promise<Check[]> {
  const { databaseUrl } = config;
  const missing = databaseUrl.engine === 'sqlite' ? checkExists(databaseUrl.path) : null;
  if (missing !== null) return [{ name: 'database', ...missing }];
  try {
    return await inspectDatabase(config, (inspection) => inspect(config, inspection));
  } catch (error) {
    return [{ name: 'database', ...failed((error as Error).message, SEE_REASONS) }];
  }
}

/** Returns null if it exists. */
function checkExists(path: string): CheckResult | null {
  try {
    statSync(path);
    return null;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code !== 'ENOENT') return failed(message, GIVE_ACCESS);
    const remedy =
      'check that the path is right and its volume is mounted; if so, the first start creates it';
    return warning(`${path} does not exist`, remedy);
  }
}

async function inspect(config: Config, inspection: Inspection): Promise<Check[]> {
  const database = await attempt('database', SEE_REASONS, async () =>
    ok(`${await inspection.version()} responds`),
  );
  if (database.status === 'failed') return [database];
  const findings = (await inspection.findings()).map(toCheck);
  if (findings.some(({ name }) => name === database.name)) return findings;
  const isUsable = !findings.some(({ status }) => status === 'failed');
  const schema = await attempt(
    'schema',
    'use the version of the service that last migrated the database, or a newer one',
    () => checkSchema(inspection),
  );
  return [
    database,
    ...findings,
    ...(isUsable && schema.status !== 'failed'
      ? [{ name: 'privileges', ...ok('the service can read and write') }]
      : []),
    schema,
    await attempt('keys', 'see "A token that cannot be decrypted" in docs/troubleshoot.md', () =>
      checkKeys(config, inspection),
    ),
    ...(schema.status === 'ok' ? await checkBootstrap(config, inspection) : []),
    await attempt('clock', SEE_REASONS, () => checkClock(inspection)),
  ];
}

function toCheck({ subject, isFatal, message, remedy }: Finding): Check {
  return { name: subject, ...(isFatal ? failed : warning)(message, remedy) };
}

async function checkSchema(inspection: Inspection): Promise<CheckResult> {
  const pending = await inspection.pendingMigrations();
  const missing = pending.length === 0 ? await inspection.missingRelations() : [];
  if (missing.length > 0)
    return failed(
      `the database lacks ${counted(missing.length, 'table or index', 'tables or indexes')}: ${missing.join(', ')}`,
      'recreate what was dropped, and rename back what was renamed; after a failed restore, restore the backup again, completely: see "PostgreSQL" in docs/back-up.md',
    );
  const newerVersion = await inspection.newerVersion();
  if (newerVersion !== null)
    return warning(newerVersion, 'see "Going back" in docs/upgrade.md for what this version lacks');
  if (pending.length === 0) return ok('every migration of this version is applied');
  const remedy =
    'the next start applies them if the user may change the schema; otherwise run "user-group-service migrate" as its owner';
  return warning(
    `${counted(pending.length, 'migration is', 'migrations are')} pending, from ${pending[0]} on`,
    remedy,
  );
}

async function checkKeys(config: Config, inspection: Inspection): Promise<CheckResult> {
  const keyIds = (await inspection.isInitialized()) ? await inspection.registeredKeyIds() : [];
  if (isKeyFilePending(config, keyIds)) return ok(`the first start creates ${keyFilePath(config)}`);
  const keyRing = readKeyRing(config, keyIds);
  const tokens = await decryptSample(inspection, keyRing, { keyIds, limit: TOKENS_PER_KEY });
  return ok(
    `the key ring has ${counted(keyRing.keyIds.length, 'key')}, among them every key in use, and decrypts ${counted(tokens, 'sampled token')}`,
  );
}

/** A start is refused if the API token was revoked, or is in another place than is configured now. */
async function checkBootstrap(config: Config, inspection: Inspection): Promise<Check[]> {
  const { bootstrapApiToken: token, bootstrapWorkspace, bootstrapEnvironment: environment } = config;
  if (token === null) return [];
  const check = await attempt('bootstrap API token', SEE_REASONS, async () => {
    const found = await inspection.findApiToken(digestToken(token.reveal()));
    if (found === null) return ok('the next start creates it');
    const workspace = await inspection.findWorkspace(bootstrapWorkspace);
    const reason = whyUnusable(found, { token, environment }, workspace, Date.now());
    if (reason === null) return ok(`is API token ${found.apiTokenId}, which is active`);
    return failed(
      `is API token ${found.apiTokenId}, which ${reason}: the next start is refused`,
      BOOTSTRAP_REMEDY,
    );
  });
  return [check];
}

async function checkClock(inspection: Inspection): Promise<CheckResult> {
  const aheadMs = await inspection.clockAheadMs();
  if (aheadMs === null) return skipped('the database has the clock of this machine');
  const seconds = Math.abs(aheadMs / 1_000).toFixed(1);
  const message = `the clock of this machine is ${seconds} s ${aheadMs > 0 ? 'behind' : 'ahead of'} that of the database`;
  const remedy =
    'synchronize the clocks of both machines (NTP): grace periods and expiry times depend on them';
  if (Math.abs(aheadMs) > CLOCK_FAILURE_MS) return failed(message, remedy);
  if (Math.abs(aheadMs) > CLOCK_WARNING_MS) return warning(message, remedy);
  return ok(message);
}
