// A progress bar on standard error. Draws nothing unless standard error is a terminal that can erase a line.

import { onExit } from '../system/on-exit.ts';

const WIDTH = 30;
const REDRAW_INTERVAL_MS = 100;

/** Ends when disposed or when a signal ends the process, so that an error or a shell prompt starts on a new line. */
export interface ProgressBar extends Disposable {
  /** Draws nothing before the total is known. */
  show(done: number, total?: number): void;
  /** Prints a line above the bar; also without a terminal. */
  note(text: string): void;
  /** Makes room for a line on standard output, which may be the same terminal; the bar is drawn again below it. */
  erase(): void;
  /** Draws the final state and starts a new line. */
  end(): void;
}

export function progressBar(unit: string, total: number | null = null): ProgressBar {
  if (!process.stderr.isTTY || process.env.TERM === 'dumb') {
    return {
      show: () => {},
      note: console.error,
      erase: () => {},
      end: () => {},
      [Symbol.dispose]: () => {},
    };
  }
  const startedAt = performance.now();
  let shownAt = 0;
  let current = 0;
  const draw = (): void => {
    if (total === null) return;
    const share = total === 0 ? 1 : Math.min(1, current / total);
    const filled = Math.round(share * WIDTH);
    const perSecond = Math.round(current / Math.max(0.001, (performance.now() - startedAt) / 1_000));
    const bar = '#'.repeat(filled).padEnd(WIDTH, '.');
    process.stderr.write(
      `\r[${bar}] ${Math.floor(share * 100)} %  ${current} of ${total} ${unit}  ${perSecond}/s\x1b[K`,
    );
  };
  const ending = onExit(() => {
    draw();
    if (total !== null) process.stderr.write('\n');
  });
  const end = (): void => ending[Symbol.dispose]();
  return {
    show(done, all) {
      current = done;
      total = all ?? total;
      if (performance.now() - shownAt < REDRAW_INTERVAL_MS) return;
      shownAt = performance.now();
      draw();
    },
    note(text) {
      process.stderr.write(`\r\x1b[K${text}\n`);
      draw();
    },
    erase() {
      process.stderr.write('\r\x1b[K');
      shownAt = 0;
    },
    end,
    [Symbol.dispose]: end,
  };
}
