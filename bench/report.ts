// Prints the figures as a table with the targets.

import { printTable } from '../src/commands/terminal/output.ts';
import type { Figures, OperationFigures } from './measure.ts';
import { median } from './median.ts';

const RESIDENT_TARGET_MEGABYTES = 200;
const READY_TARGET_MS = 500;

export function printFigures(figures: Figures): void {
  const heading = ['operation', 'requests/s', 'bare', 'ratio', 'target', '', 'p50 ms', 'p99 ms'];
  printTable(heading, figures.operations.map(rowOf));
  const { residentMegabytes, start } = figures;
  const readyMs = median(start.laterMs);
  const each = start.laterMs.map((ms) => ms.toFixed(0)).join(', ');
  console.log(
    `resident memory after the load: ${residentMegabytes.toFixed(0)} MB, target < ${RESIDENT_TARGET_MEGABYTES}: ` +
      `${verdict(residentMegabytes < RESIDENT_TARGET_MEGABYTES)}\n` +
      `ready after the start: ${readyMs.toFixed(0)} ms (${each}), target < ${READY_TARGET_MS}: ` +
      `${verdict(readyMs < READY_TARGET_MS)}; the first start of all: ${start.firstMs.toFixed(0)} ms`,
  );
}

function rowOf({ operation, service, bare }: OperationFigures): string[] {
  const { name, target } = operation;
  const ratio = service.requestsPerSecond / bare.requestsPerSecond;
  return [
    name,
    perSecond(service.requestsPerSecond),
    perSecond(bare.requestsPerSecond),
    ratio.toFixed(2),
    target === undefined ? '-' : `>= ${target.toFixed(2)}`,
    target === undefined ? '' : verdict(ratio >= target),
    service.p50Ms.toFixed(2),
    service.p99Ms.toFixed(2),
  ];
}

function perSecond(requests: number): string {
  return Math.round(requests).toString();
}

export function verdict(isReached: boolean): string {
  return isReached ? 'reached' : 'missed';
}
