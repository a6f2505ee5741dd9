import { createInterface } from 'node:readline';
import { UsageError } from '../exit-code.ts';
import { escapeControls } from './terminal-text.ts';

/** Asks the operator to type `expected`. Throws `UsageError` if they type something else, or without a terminal. */
export async function confirmByTyping(expected: string, question: string): Promise<void> {
  if (!process.stdin.isTTY)
    throw new UsageError('there is no terminal to ask for confirmation; add --yes to confirm');
  process.stderr.write(escapeControls(question));
  if ((await readLine()) !== expected) throw new UsageError('not confirmed; nothing was changed');
}

/** Returns an empty text at the end of the input. Leaves the terminal in its normal mode, so Ctrl-C works. */
async function readLine(): Promise<string> {
  // Closes the input, which would otherwise keep the process running.
  using lines = createInterface({ input: process.stdin });
  for await (const line of lines) return line;
  return '';
}
