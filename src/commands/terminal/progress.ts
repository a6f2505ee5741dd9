// A progress bar on standard error. Draws nothing unless standard error is a terminal that can erase a line.

import { onExit } from '../../system/on-exit.ts';

const WIDTH = 30;
const REDRAW_INTERVAL_MS = 100;
/** Width of a terminal that does not know its own. */
const COLUMNS = 80;

/** Ends when disposed or when a signal ends the process, so that an error or a shell prompt starts on a new line. */
export interface ProgressBar extends Disposable {
  /** Draws only the number that is done while the total is unknown. */
  show(done: number, total?: number): void;
  /** Shows that more is done. */
  add(more: number): void;
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
      add: () => {},
      note: console.error,
      erase: () => {},
      end: () => {},
      [Symbol.dispose]: () => {},
    };
  }
  const startedAt = performance.now();
  let shownAt = 0;
  let current: number | null = total === null ? null : 0;
  const draw = (): void => {
    if (current === null) return;
    const perSecond = Math.round(current / Math.max(0.001, (performance.now() - startedAt) / 1_000));
    const done = total === null ? current : shareText(current, total);
    process.stderr.write(`\r${cut(`${done} ${unit}  ${perSecond}/s`)}\x1b[K`);
  };
  const ending = onExit(() => {
    draw();
    if (current !== null) process.stderr.write('\n');
  });
  const end = (): void => ending[Symbol.dispose]();
  const show = (done: number, all = total): void => {
    current = done;
    total = all;
    if (performance.now() - shownAt < REDRAW_INTERVAL_MS) return;
    shownAt = performance.now();
    draw();
  };
  return {
    show,
    add: (more) => show((current ?? 0) + more),
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

/** A longer line would wrap, and then each drawing would start a new one. */
function cut(line: string): string {
  return line.slice(0, (process.stderr.columns || COLUMNS) - 1);
}

function shareText(done: number, total: number): string {
  const share = total === 0 ? 1 : Math.min(1, done / total);
  const bar = '#'.repeat(Math.round(share * WIDTH)).padEnd(WIDTH, '.');
  return `[${bar}] ${Math.floor(share * 100)} %  ${done} of ${total}`;
}
