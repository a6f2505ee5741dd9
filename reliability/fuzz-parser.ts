// Fuzzes the strict parser with documents of every kind; `npm test` checks the same properties about a
// thousand times.

import fc from 'fast-check';
import { parserProperties } from '../test/support/domain/strict-json-property.ts';
import { PromiseBroken } from './support/ledger.ts';

interface ParserOptions {
  /** Documents for each property. */
  documents: number;
  seed: number;
  onProperty: (properties: number) => void;
}

export const propertyCount = Object.keys(parserProperties).length;

/** Throws `PromiseBroken`. */
export function fuzzParser({ documents, seed, onProperty }: ParserOptions): void {
  for (const [index, [what, { property }]] of Object.entries(parserProperties).entries()) {
    const details = fc.check(property as fc.IProperty<[unknown]>, { seed, numRuns: documents });
    if (details.failed) throw new PromiseBroken(`the parser: ${what}\n${fc.defaultReportMessage(details)}`);
    onProperty(index + 1);
  }
}
