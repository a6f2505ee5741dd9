// Runs mutants sequentially in a copy of the tree, on one PostgreSQL server.

import pg from 'pg';
import { startPostgres } from '../test/support/postgres/server.ts';
import type { Mutant } from './mutant.ts';
import { type Outcome, runTestFile } from './test-run.ts';
import { WorkingCopy } from './working-copy.ts';

export type Verdict = 'killed' | 'timed out' | 'survived' | 'equivalent';

export interface MutantResult {
  mutant: Mutant;
  verdict: Verdict;
  /** The test that detected it; null if none did before the timeout. */
  by: string | null;
  durationMs: number;
}

export class BaselineFailed extends Error {
  override readonly name = 'BaselineFailed';
}

/** Generous, so that a busy machine does not count as a detected defect. */
const TIMEOUT_FACTOR = 5;
const TIMEOUT_MARGIN_MS = 20_000;
const BASELINE_TIMEOUT_MS = 600_000;

export class MutantRunner {
  readonly #copy = new WorkingCopy();
  /** How long each test file takes without a mutant. */
  readonly #baselineMs = new Map<string, number>();
  readonly #serverUrl: string;
  readonly #ownsServer: boolean;

  static async start(): Promise<MutantRunner> {
    const url = process.env.TEST_DATABASE_URL;
    return url ? new MutantRunner(url, false) : new MutantRunner((await startPostgres()).url, true);
  }

  private constructor(serverUrl: string, ownsServer: boolean) {
    this.#serverUrl = serverUrl;
    this.#ownsServer = ownsServer;
  }

  /** Throws `BaselineFailed` if the file does not pass without a mutant. */
  async measure(file: string): Promise<number> {
    const startedAt = performance.now();
    const outcome = await this.#run(file, BASELINE_TIMEOUT_MS);
    if (outcome.result !== 'passed') {
      const what = outcome.result === 'failed' ? `fails at "${outcome.by}"` : 'does not finish';
      throw new BaselineFailed(`${file} ${what} without any mutant: see "npm test -- ${file}"`);
    }
    const durationMs = performance.now() - startedAt;
    this.#baselineMs.set(file, durationMs);
    return durationMs;
  }

  /** Its test files must have been measured. */
  async test(mutant: Mutant): Promise<MutantResult> {
    const startedAt = performance.now();
    const outcome = await this.#copy.withMutant(mutant, () => this.#firstFailure(mutant.tests));
    const durationMs = performance.now() - startedAt;
    const by = outcome.result === 'failed' ? outcome.by : null;
    return { mutant, verdict: verdictOf(mutant, outcome), by, durationMs };
  }

  async #firstFailure(files: readonly string[]): Promise<Outcome> {
    for (const file of files) {
      const timeoutMs = this.#baselineMs.get(file)! * TIMEOUT_FACTOR + TIMEOUT_MARGIN_MS;
      const outcome = await this.#run(file, timeoutMs);
      if (outcome.result !== 'passed') return outcome;
    }
    return { result: 'passed' };
  }

  async #run(file: string, timeoutMs: number): Promise<Outcome> {
    const { folder, temporaryFolder } = this.#copy;
    const env = { ...process.env, TEST_DATABASE_URL: this.#serverUrl, TMPDIR: temporaryFolder };
    try {
      return await runTestFile(file, { folder, env, timeoutMs });
    } finally {
      this.#copy.removeTemporaryFiles();
      if (this.#ownsServer) await dropDatabases(this.#serverUrl);
    }
  }
}

function verdictOf({ equivalent }: Mutant, { result }: Outcome): Verdict {
  if (result === 'failed') return 'killed';
  if (result === 'timed out') return 'timed out';
  return equivalent === undefined ? 'survived' : 'equivalent';
}

/** A killed test leaves its databases behind, 8 MB each. */
async function dropDatabases(serverUrl: string): Promise<void> {
  const client = new pg.Client(serverUrl);
  await client.connect();
  try {
    const { rows } = await client.query<{ datname: string }>(
      "select datname from pg_database where not datistemplate and datname <> 'postgres'",
    );
    for (const { datname } of rows) {
      await client.query(`drop database if exists ${pg.escapeIdentifier(datname)} with (force)`);
    }
  } finally {
    await client.end();
  }
}
