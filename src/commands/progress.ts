// A progress bar on standard error, where a person looks on; nothing where a script does.

import { atTheEnd } from '../at-the-end.ts';

const WIDTH = 30;
const EVERY_MS = 100;

/** Ends where it is disposed of or a signal ends the process, so that an error or a prompt stands on a line of its own. */
export interface ProgressBar extends Disposable {
  show(done: number): void;
  /** Prints a line above the bar; it is there for scripts too. */
  note(text: string): void;
  /** What is printed next stands on a line of its own. */
  end(): void;
}

/** Without a total there is none. */
export function progressBar(unit: string, total: number | null): ProgressBar {
  if (total === null || !process.stderr.isTTY) {
    return { show: () => {}, note: console.error, end: () => {}, [Symbol.dispose]: () => {} };
  }
  const startedAt = performance.now();
  let shownAt = 0;
  let last = 0;
  const draw = (): void => {
    const share = total === 0 ? 1 : Math.min(1, last / total);
    const filled = Math.round(share * WIDTH);
    const perSecond = Math.round(last / Math.max(0.001, (performance.now() - startedAt) / 1_000));
    const bar = '#'.repeat(filled).padEnd(WIDTH, '.');
    process.stderr.write(
      `\r[${bar}] ${Math.floor(share * 100)} %  ${last} of ${total} ${unit}  ${perSecond}/s\x1b[K`,
    );
  };
  const ending = atTheEnd(() => {
    draw();
    process.stderr.write('\n');
  });
  const end = (): void => ending[Symbol.dispose]();
  return {
    show(done) {
      last = done;
      if (performance.now() - shownAt < EVERY_MS) return;
      shownAt = performance.now();
      draw();
    },
    note(text) {
      process.stderr.write(`\r\x1b[K${text}\n`);
      draw();
    },
    end,
    [Symbol.dispose]: end,
  };
}
