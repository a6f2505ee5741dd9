// Result of one line of an imported file.

import type { Violation } from '../../problem.ts';

export type LineResult = { result: 'created' | 'updated' | 'unchanged' } | RefusedLine;

export interface RefusedLine {
  result: 'refused';
  code: string;
  errors: readonly Violation[];
}

/** `detail` applies to the value at each pointer. */
export function refusedLine(code: string, detail: string, ...pointers: readonly string[]): RefusedLine {
  return { result: 'refused', code, errors: pointers.map((pointer) => ({ pointer, detail })) };
}
