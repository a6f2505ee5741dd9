// Five times the work that can be done, for as long as is asked: what is let in is done, the rest is told at once to
// come back, and when it is over the service is as before. The capacity is made small by a slow database, since two
// processors cannot both serve all that they can and offer five times that.

import { createApiToken, Folder } from '../test/process.ts';
import { slowDatabases } from './overload-database.ts';
import { type CallLoad, call, probe } from './overload-load.ts';
import { mostResidentMb } from './resident-memory.ts';

export interface OverloadOptions {
  database: keyof typeof slowDatabases;
  /** Of overload. */
  seconds: number;
  /** How much longer each sync of the disk takes, or each answer of the server. */
  delayMs: number;
  /** To find out what can be done, before the overload, and to recover in after it. */
  peakSeconds?: number;
  afterSeconds?: number;
}

export interface OverloadFigures extends Record<string, number> {
  capacityPerSecond: number;
  offeredPerSecond: number;
  servedPerSecond: number;
  goodput: number;
  refusedPerSecond: number;
  /** Answers that are neither a success nor 503 with Retry-After. */
  wrong: number;
  servedP50Ms: number;
  servedP99Ms: number;
  refusedP50Ms: number;
  refusedP99Ms: number;
  refusedMaxMs: number;
  /** As callers see it who do nothing else. */
  probeRefusedP50Ms: number;
  probeRefusedP99Ms: number;
  memoryAtPeakMb: number;
  memoryMb: number;
  /** Until a second in which all are served, at half of what can be done. */
  recoverySeconds: number;
  /** Then and later: of the disk that is slow, a checkpoint takes longer than one may wait. */
  notServedAfter: number;
}

const TIMES = 5;
/** They fill the batches that are under way, and those that wait for them. */
const PEAK_CALLERS = 1_280;
const PROBES_PER_SECOND = 50;

export async function overload(options: OverloadOptions): Promise<OverloadFigures> {
  const { database, seconds, delayMs, peakSeconds = 9, afterSeconds = 12 } = options;
  using folder = new Folder();
  await using slow = await slowDatabases[database](folder, delayMs);
  const { token: apiToken } = await createApiToken(folder, [], { env: slow.env });
  const { service, pid } = await slow.serve();
  await using _service = service;
  const load = (prefix: string, duration: number, offer: CallLoad['offer']): CallLoad => {
    return { url: service.url, apiToken, prefix, seconds: duration, warmUpSeconds: duration / 3, offer };
  };
  const run = (of: CallLoad) => mostResidentMb(pid, call(of));

  const [peak, memoryAtPeakMb] = await run(load('peak-', peakSeconds, { callers: PEAK_CALLERS }));
  const capacity = peak.served.perSecond;
  const [[over, memoryMb], probed] = await Promise.all([
    run(load('over-', seconds, { perSecond: TIMES * capacity })),
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
    probeRefusedP50Ms: Math.round(probed.refused.p50Ms * 10) / 10,
    probeRefusedP99Ms: Math.round(probed.refused.p99Ms * 10) / 10,
    wrong: peak.wrong + wrong + probed.wrong + after.wrong,
    memoryAtPeakMb: Math.round(memoryAtPeakMb),
    memoryMb: Math.round(memoryMb),
    recoverySeconds: after.allServedAfterSeconds,
    notServedAfter: after.notServed,
  };
}

const LEAST_GOODPUT = 0.8;
const REFUSED_WITHIN_MS = 50;
const RECOVERED_WITHIN_SECONDS = 10;
/** Connections take memory, and five times the callers have five times as many. */
const MOST_GROWTH_MB = 250;

/** The promises that the figures break; none where all are kept. */
export function brokenPromises(figures: OverloadFigures): string[] {
  const promises: Record<string, boolean> = {
    [`goodput is at least ${LEAST_GOODPUT} of the peak`]: figures.goodput >= LEAST_GOODPUT,
    [`99 of 100 refusals come within ${REFUSED_WITHIN_MS} ms`]: figures.refusedP99Ms <= REFUSED_WITHIN_MS,
    'every answer is a success or 503 with Retry-After': figures.wrong === 0,
    [`memory grows by at most ${MOST_GROWTH_MB} MB`]:
      figures.memoryMb - figures.memoryAtPeakMb <= MOST_GROWTH_MB,
    [`everybody is served again within ${RECOVERED_WITHIN_SECONDS} seconds`]:
      figures.recoverySeconds <= RECOVERED_WITHIN_SECONDS,
  };
  return Object.keys(promises).filter((promise) => !promises[promise]);
}
