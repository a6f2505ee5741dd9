// Dependencies of every operation, and steps that several operations share.

import type { Origin } from '../domain/event/event.ts';
import { type KeyRing, TokenUnreadable } from '../domain/key-ring.ts';
import type { Secret } from '../domain/secret.ts';
import type { UserGroup } from '../domain/user-group/user-group.ts';
import { Problem, type Violation } from '../problem.ts';
import { TenantActivity } from '../scheduling/tenant-activity.ts';
import { EnvironmentConfigs } from './document/environment-config.ts';
import type { EventContext } from './event/event.ts';
import { CpuQueue } from './machinery/cpu-queue.ts';
import { IdLease } from './machinery/id-lease.ts';
import { KeyedMutex } from './machinery/keyed-mutex.ts';
import { LastUse } from './machinery/last-use.ts';
import { SignatureQueue } from './machinery/signature-queue.ts';
import { Usage } from './machinery/usage.ts';
import { TimedOutSchemas } from './property-schema/timed-out-schemas.ts';
import { PropertyValidator, type Validator } from './property-schema/validator/validator.ts';
import { HistoryErasures } from './user-group/erase-history.ts';

/** Settings that operations read. */
interface OperationSettings {
  defaultGracePeriodSeconds: number;
  /** Public URL of the service, without a trailing slash: the start of the issuer of tokens. */
  publicUrl: string;
  /** Whether webhooks may be sent to addresses that are not public. */
  allowsPrivateWebhooks: boolean;
}

export interface Context extends EventContext, OperationSettings {
  keyRing: KeyRing;
  teamIds: IdLease;
  groupMutex: KeyedMutex;
  catalogueMutex: KeyedMutex;
  activity: TenantActivity;
  erasures: HistoryErasures;
  cpu: CpuQueue;
  signatures: SignatureQueue;
  lastUse: LastUse;
  usage: Usage;
  propertyValidator: Validator;
  timedOutSchemas: TimedOutSchemas;
  /** Rules that the change of this request violates and that are only reported. */
  violations: Violation[];
  /** Time before the first query of this request (`performance.now()`). */
  startedAt: number;
}

/** The context of operations that neither encrypt nor decrypt. */
export type KeylessContext = Omit<Context, 'keyRing'>;

/** Members without a default: the store, and the settings that operations read. */
type Given = 'store' | 'eventRetentionDays' | keyof OperationSettings;

type ContextOptions = Partial<KeylessContext> &
  Pick<Context, Given> & {
    via: Origin['via'];
    /** Called if a background write fails. */
    onBackgroundError?: (error: unknown) => void;
  };

export function createContext({
  store,
  via,
  clock = Date.now,
  eventRetentionDays,
  activity = new TenantActivity(),
  onBackgroundError = () => {},
  ...options
}: ContextOptions): KeylessContext {
  const configs = new EnvironmentConfigs(activity);
  return {
    eventRetentionDays,
    signatures: new SignatureQueue(),
    propertyValidator: PropertyValidator.forCommand(),
    store,
    clock,
    teamIds: new IdLease(store),
    groupMutex: new KeyedMutex(),
    catalogueMutex: new KeyedMutex(),
    erasures: new HistoryErasures(),
    activity,
    cpu: CpuQueue.create(activity),
    configs,
    lastUse: new LastUse(store, onBackgroundError),
    usage: new Usage(store, eventRetentionDays > 0, onBackgroundError),
    timedOutSchemas: new TimedOutSchemas({ store, clock, configs, eventRetentionDays }, onBackgroundError),
    violations: [],
    startedAt: 0,
    origin: { via, requestId: null },
    ...options,
  };
}

/** A user group with its decrypted token. */
export interface OpenUserGroup {
  userGroup: UserGroup;
  token: Secret;
}

/**
 * Decrypts the stored token. Throws `database_unavailable` if that fails: the token is never replaced by a
 * new one.
 */
export function openToken({ keyRing }: Pick<Context, 'keyRing'>, userGroup: UserGroup): OpenUserGroup {
  const token = decrypt(() => keyRing.open(userGroup.sealedToken, userGroup), 'token of this user group');
  return { userGroup, token };
}

/** Throws `database_unavailable` if the stored value cannot be decrypted. */
export function decrypt(open: () => Secret, what: string): Secret {
  try {
    return open();
  } catch (error) {
    if (!(error instanceof TokenUnreadable)) throw error;
    throw new Problem(
      'database_unavailable',
      `The stored ${what} cannot be decrypted. The operator has to check the log of the service.`,
      { cause: error, retryAfterSeconds: 60 },
    );
  }
}
