// Prints the figures as a table with the targets, or all of them as JSON for scripts.

import { arch, cpus, type } from 'node:os';
import { printTable } from '../src/commands/terminal/output.ts';
import type { Figures, MeasureOptions, OperationFigures } from './measure.ts';
import { median } from './median.ts';
import { TRANSACTION_EACH_TARGET } from './operation.ts';

const RESIDENT_TARGET_MEGABYTES = 200;
const READY_TARGET_MS = 500;

export function printFigures(figures: Figures): void {
  const heading = ['operation', 'requests/s', 'bare', 'ratio', 'target', '', 'p50 ms', 'p99 ms'];
  printTable(heading, figures.operations.flatMap(rowsOf));
  console.log('\nratio: to the bare server; for "a transaction each": of the batched creates to these');
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

function rowsOf({ operation, service, bare, transactionEach }: OperationFigures): string[][] {
  const { name, target } = operation;
  const ratio = service.requestsPerSecond / bare.requestsPerSecond;
  const rows = [
    [
      name,
      perSecond(service.requestsPerSecond),
      perSecond(bare.requestsPerSecond),
      ratio.toFixed(2),
      target === undefined ? '-' : `>= ${target.toFixed(2)}`,
      target === undefined ? '' : verdict(ratio >= target),
      service.p50Ms.toFixed(2),
      service.p99Ms.toFixed(2),
    ],
  ];
  if (transactionEach !== null) {
    const times = service.requestsPerSecond / transactionEach.requestsPerSecond;
    rows.push([
      '  a transaction each',
      perSecond(transactionEach.requestsPerSecond),
      '-',
      `${times.toFixed(1)} x`,
      `>= ${TRANSACTION_EACH_TARGET} x`,
      verdict(times >= TRANSACTION_EACH_TARGET),
      transactionEach.p50Ms.toFixed(2),
      transactionEach.p99Ms.toFixed(2),
    ]);
  }
  return rows;
}

/** Returns all figures, with the machine and the settings. */
export function figuresAsJson(
  figures: Figures,
  { seconds, rounds, groups }: Pick<MeasureOptions, 'seconds' | 'rounds' | 'groups'>,
): string {
  const processors = cpus();
  return JSON.stringify(
    {
      machine: {
        node: process.version,
        system: `${type()} ${arch()}`,
        processors: processors.length,
        processor: processors[0]?.model ?? 'unknown',
      },
      settings: { seconds, rounds, groups },
      ...figures,
    },
    null,
    2,
  );
}

function perSecond(requests: number): string {
  return Math.round(requests).toString();
}

export function verdict(isReached: boolean): string {
  return isReached ? 'reached' : 'missed';
}
