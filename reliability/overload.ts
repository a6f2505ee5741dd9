// Sends five times the capacity of the service: admitted calls must be served, the others rejected
// immediately with Retry-After, and the service must recover afterwards. A slow database limits the capacity,
// because two processors cannot serve at full capacity and also generate five times that load.

import { createApiToken, Folder } from '../test/support/process.ts';
import { slowDatabases } from './overload/database.ts';
import { type CallLoad, call, probe } from './support/call-load.ts';
import { peakResidentMb } from './support/resident-memory.ts';

interface OverloadOptions {
  database: keyof typeof slowDatabases;
  /** The duration of the overload. */
  seconds: number;
  /** The delay of each sync of the disk, or each response of the server. */
  delayMs: number;
  /** The durations of the capacity measurement before the overload, and of the recovery after it. */
  peakSeconds?: number;
  afterSeconds?: number;
}

interface OverloadFigures extends Record<string, number> {
  capacityPerSecond: number;
  offeredPerSecond: number;
  servedPerSecond: number;
  goodput: number;
  refusedPerSecond: number;
  /** Responses that are neither a success nor 503 with Retry-After. */
  wrong: number;
  servedP50Ms: number;
  servedP99Ms: number;
  refusedP50Ms: number;
  refusedP99Ms: number;
  refusedMaxMs: number;
  /** Rejections of a separate process that sends little, and their latencies. */
  probeRefusedPerSecond: number;
  probeRefusedP50Ms: number;
  probeRefusedP99Ms: number;
  memoryAtPeakMb: number;
  memoryMb: number;
  /** Time until a second in which all calls are served, at half the capacity. */
  recoverySeconds: number;
  /**
   * Calls not served during and after the recovery: on a slow disk, a checkpoint takes longer than the
   * maximum wait.
   */
  notServedAfter: number;
}

const OVERLOAD_FACTOR = 5;
/** Enough callers to fill the batches in flight and those waiting for them. */
const PEAK_CALLERS = 1_280;
const PROBES_PER_SECOND = 50;

export async function overload(options: OverloadOptions): Promise<OverloadFigures> {
  const { database, seconds, delayMs, peakSeconds = 9, afterSeconds = 12 } = options;
  using folder = new Folder();
  await using slow = await slowDatabases[database](folder, delayMs);
  const { token: apiToken } = await createApiToken(folder, [], { env: slow.env });
  await using service = await slow.serve();
  const load = (prefix: string, duration: number, offer: CallLoad['offer']): CallLoad => {
    return { url: service.url, apiToken, prefix, seconds: duration, warmUpSeconds: duration / 3, offer };
  };
  const run = (of: CallLoad) => peakResidentMb(service.id, call(of));

  // Ends when all calls have been answered: the connections to the database are open, which takes several delays.
  await call(load('first-', 1, { callers: PEAK_CALLERS }));
  const [peak, memoryAtPeakMb] = await run(load('peak-', peakSeconds, { callers: PEAK_CALLERS }));
  const capacity = peak.served.perSecond;
  const [[over, memoryMb], probed] = await Promise.all([
    run(load('over-', seconds, { perSecond: OVERLOAD_FACTOR * capacity })),
    probe(load('probe-', seconds, { perSecond: PROBES_PER_SECOND })),
  ]);
  const [after] = await run(load('after-', afterSeconds, { perSecond: capacity / 2 }));
  const { served, refused, wrong } = over;
  return {
    capacityPerSecond: Math.round(capacity),
    offeredPerSecond: Math.round(over.calls / seconds),
    servedPerSecond: Math.round(served.perSecond),
    goodput: Math.round((served.perSecond / capacity) * 100) / 100,
    servedP50Ms: Math.round(served.p50Ms),
    servedP99Ms: Math.round(served.p99Ms),
    refusedPerSecond: Math.round(refused.perSecond),
    refusedP50Ms: Math.round(refused.p50Ms),
    refusedP99Ms: Math.round(refused.p99Ms),
    refusedMaxMs: Math.round(refused.maxMs),
    probeRefusedPerSecond: Math.round(probed.refused.perSecond * 10) / 10,
    probeRefusedP50Ms: Math.round(probed.refused.p50Ms * 10) / 10,
    probeRefusedP99Ms: Math.round(probed.refused.p99Ms * 10) / 10,
    wrong: peak.wrong + wrong + probed.wrong + after.wrong,
    memoryAtPeakMb: Math.round(memoryAtPeakMb),
    memoryMb: Math.round(memoryMb),
    recoverySeconds: after.allServedAfterSeconds,
    notServedAfter: after.notServed,
  };
}

const MIN_GOODPUT = 0.8;
const REFUSED_WITHIN_MS = 50;
const RECOVERED_WITHIN_SECONDS = 10;
/** Connections use memory, and five times as many callers have five times as many. */
const MAX_GROWTH_MB = 250;

/** The broken promises according to the figures; empty if all are kept. */
export function brokenPromises(figures: OverloadFigures): string[] {
  const promises: Record<string, boolean> = {
    [`goodput is at least ${MIN_GOODPUT} of the peak`]: figures.goodput >= MIN_GOODPUT,
    [`99 % of the rejections arrive within ${REFUSED_WITHIN_MS} ms`]:
      figures.refusedP99Ms <= REFUSED_WITHIN_MS,
    'every response is a success or 503 with Retry-After': figures.wrong === 0,
    [`memory grows by at most ${MAX_GROWTH_MB} MB`]:
      figures.memoryMb - figures.memoryAtPeakMb <= MAX_GROWTH_MB,
    [`all calls are served again within ${RECOVERED_WITHIN_SECONDS} seconds`]:
      figures.recoverySeconds <= RECOVERED_WITHIN_SECONDS,
  };
  return Object.keys(promises).filter((promise) => !promises[promise]);
}
