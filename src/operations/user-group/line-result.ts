// The result of a line of an imported file.

import type { Violation } from '../../problem.ts';

export type LineResult = { result: 'created' | 'updated' | 'unchanged' } | RefusedLine;

export interface RefusedLine {
  result: 'refused';
  code: string;
  errors: readonly Violation[];
}

/** `detail` is about the value at each of the pointers. */
export function refusedLine(code: string, detail: string, ...pointers: readonly string[]): RefusedLine {
  return { result: 'refused', code, errors: pointers.map((pointer) => ({ pointer, detail })) };
}
