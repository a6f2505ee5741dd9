// Produces the fault of each alert in a real process and waits until a real Prometheus fires it.

import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '../test/support/process.ts';
import { readRules } from '../test/support/prometheus.ts';
import { type AlertFault, faults } from './alerts/faults.ts';
import { Site } from './alerts/site.ts';

/** Speed-up of the rules: a minute becomes a second. */
const SPEED = 60;
const CONCURRENCY = 4;
const LIMIT_MS = 180_000;
const POLL_MS = 100;

interface AlertFigures {
  alert: string;
  speed: number;
  /** Time from the start of the fault until the alert fired; null if it did not. */
  seconds: number | null;
}

interface AlertsOptions {
  /** Alerts to test; all if empty. */
  only: readonly string[];
  onAlert: (figures: AlertFigures) => void;
}

export function alertNames(): string[] {
  return readRules().map(({ alert }) => alert);
}

/** Fires the alerts. Throws if an alert is active before its fault, or has no fault. */
export async function fireAlerts({ only, onAlert }: AlertsOptions): Promise<AlertFigures[]> {
  const waiting = alertNames().filter((alert) => only.length === 0 || only.includes(alert));
  const figures: AlertFigures[] = [];
  const fireNext = async (): Promise<void> => {
    for (let alert = waiting.shift(); alert !== undefined; alert = waiting.shift()) {
      const fired = await fire(alert);
      figures.push(fired);
      onAlert(fired);
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, fireNext));
  return figures;
}

async function fire(alert: string): Promise<AlertFigures> {
  const fault = faults[alert];
  if (fault === undefined) throw new Error(`no fault is known that ${alert} is for`);
  const speed = fault.speed ?? SPEED;
  await using site = await Site.start({ env: fault.env, targets: fault.targets, speed });
  await waitUntilQuiet(site, alert);
  const ms = await firingAfter(site, alert, fault);
  return { alert, speed, seconds: ms === null ? null : Math.round(ms / 100) / 10 };
}

/**
 * Waits until the alert is inactive: Prometheus finds its targets only some seconds after it starts, and
 * until then one is missing.
 */
async function waitUntilQuiet({ prometheus }: Site, alert: string): Promise<void> {
  await eventually('a scrape', async () => (await prometheus.query('up == 1')).length > 0);
  await eventually(`${alert} to be inactive`, async () => (await prometheus.stateOf(alert)) === 'inactive');
}

/** Returns the time until the alert fires; null if it does not within the limit. */
async function firingAfter(site: Site, alert: string, { produce }: AlertFault): Promise<number | null> {
  const stop = new AbortController();
  const startedAt = performance.now();
  const producing = produce(site, stop.signal);
  const firing = (async () => {
    while (performance.now() - startedAt < LIMIT_MS && !stop.signal.aborted) {
      if ((await site.prometheus.stateOf(alert)) === 'firing') return performance.now() - startedAt;
      await sleep(POLL_MS);
    }
    return null;
  })();
  try {
    await Promise.race([firing, producing.then(() => firing)]);
    return await firing;
  } finally {
    stop.abort();
    await producing;
  }
}

export function brokenPromises(figures: readonly AlertFigures[]): string[] {
  return figures.filter(({ seconds }) => seconds === null).map(({ alert }) => `${alert} fires for its fault`);
}
