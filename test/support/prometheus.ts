// Runs a real Prometheus on a free port, with the configuration and the rules of deploy/prometheus.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parse, stringify } from 'yaml';
import { freePort } from './connection/free-port.ts';
import { eventually, Folder, Program } from './process.ts';

const DEPLOY = fileURLToPath(new URL('../../deploy/prometheus/', import.meta.url));
const UNITS_MS = { s: 1_000, m: 60_000, h: 3_600_000 } as const;
/** Matches a range, its resolution, an offset or the time for which an alert is pending. */
const DURATION = /(\[|:(?=\d+\w\])|\boffset |\bfor: )(\d+)([smh])\b/g;

export const isPrometheusInstalled = spawnSync('prometheus', ['--version']).error === undefined;

interface Rule {
  alert: string;
  expr: string;
  annotations: Record<string, string>;
}

interface Series {
  metric: Record<string, string>;
  value: [time: number, value: string];
}

interface RuleState {
  name: string;
  health: string;
  lastError?: string;
  state: string;
}

interface Response<Data> {
  status: string;
  error?: string;
  data: Data;
}

interface PrometheusOptions {
  /** Addresses of the processes. */
  targets: readonly string[];
  scrapeMs: number;
  /** Divisor of each duration of the rules. */
  speed?: number;
}

export function readRules(): Rule[] {
  const { groups } = parse(readFileSync(`${DEPLOY}alerts.yml`, 'utf8')) as { groups: { rules: Rule[] }[] };
  return groups.flatMap(({ rules }) => rules);
}

export class Prometheus implements AsyncDisposable {
  readonly #folder = new Folder();
  readonly #scrapeMs: number;
  readonly #url: string;
  readonly #program: Program;

  static async start(options: PrometheusOptions): Promise<Prometheus> {
    return new Prometheus(options, await freePort());
  }

  private constructor({ targets, scrapeMs, speed = 1 }: PrometheusOptions, port: number) {
    this.#scrapeMs = scrapeMs;
    this.#url = `http://127.0.0.1:${port}`;
    this.#configure(targets);
    writeFileSync(
      this.#folder.join('alerts.yml'),
      accelerated(readFileSync(`${DEPLOY}alerts.yml`, 'utf8'), speed),
    );
    const args = [
      '--config.file=prometheus.yml',
      '--storage.tsdb.path=data',
      `--web.listen-address=127.0.0.1:${port}`,
    ];
    this.#program = new Program(this.#folder, args, { command: 'prometheus' });
  }

  #configure(targets: readonly string[]): void {
    const configuration = parse(readFileSync(`${DEPLOY}prometheus.yml`, 'utf8'));
    const interval = `${this.#scrapeMs}ms`;
    Object.assign(configuration.global, {
      scrape_interval: interval,
      scrape_timeout: interval,
      evaluation_interval: interval,
    });
    configuration.scrape_configs[0].static_configs[0].targets = targets;
    writeFileSync(this.#folder.join('prometheus.yml'), stringify(configuration));
  }

  /** Makes Prometheus scrape only these addresses. */
  retarget(targets: readonly string[]): void {
    this.#configure(targets);
    this.#program.signal('SIGHUP');
  }

  /** Returns an empty list while Prometheus is starting. */
  async query(expr: string): Promise<Series[]> {
    const found = await this.#get<{ result: Series[] }>(`query?${new URLSearchParams({ query: expr })}`);
    if (found === null) return [];
    assert.equal(found.status, 'success', `${expr}: ${found.error}`);
    return found.data.result;
  }

  /** Waits until every rule has been evaluated, and returns the rules. */
  evaluatedRules(): Promise<RuleState[]> {
    return eventually('the evaluation of the rules', async () => {
      const rules = await this.#rules();
      return rules.length > 0 && rules.every(({ health }) => health !== 'unknown') && rules;
    });
  }

  async stateOf(alert: string): Promise<string | undefined> {
    return (await this.#rules()).find(({ name }) => name === alert)?.state;
  }

  async #rules(): Promise<RuleState[]> {
    const found = await this.#get<{ groups: { rules: RuleState[] }[] }>('rules');
    return found?.data.groups.flatMap(({ rules }) => rules) ?? [];
  }

  /** Returns null while Prometheus is starting. */
  async #get<Data>(path: string): Promise<Response<Data> | null> {
    const response = await fetch(`${this.#url}/api/v1/${path}`).catch(() => null);
    if (response === null || response.status === 503) return null;
    return (await response.json()) as Response<Data>;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#program.kill();
    this.#folder[Symbol.dispose]();
  }
}

function accelerated(rules: string, speed: number): string {
  return rules.replace(DURATION, (_, start: string, count: string, unit: keyof typeof UNITS_MS) => {
    const ms = (Number(count) * UNITS_MS[unit]) / speed;
    return `${start}${Math.round(ms)}ms`;
  });
}
