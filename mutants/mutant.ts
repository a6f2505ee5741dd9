// A mutant: one deliberate defect in the source, and the tests that must detect it.

import { existsSync, readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';

export interface Mutant {
  /** The defect, as a reviewer would describe it. Unique. */
  name: string;
  file: string;
  /** Source text that occurs exactly once in the file. */
  find: string;
  replace: string;
  /** The test files that must detect it: as few and as fast as possible. */
  tests: readonly string[];
  /** Why no test can detect it. Such a mutant is run too, and must survive. */
  equivalent?: string;
}

/** The source with the defect. Throws if the fragment does not occur exactly once. */
export function applyMutant(source: string, { find, replace }: Mutant): string {
  const occurrences = source.split(find).length - 1;
  if (occurrences !== 1) throw new Error(`the fragment occurs ${occurrences} times`);
  if (find === replace) throw new Error('the replacement is the fragment itself');
  // A function, since "$" has a special meaning in a replacement string.
  return source.replace(find, () => replace);
}

/** The reasons why mutants cannot be run, one line each; empty if there are none. */
export function findMutantFaults(mutants: readonly Mutant[]): string[] {
  const names = mutants.map(({ name }) => name);
  const repeated = names.filter((name, index) => names.indexOf(name) !== index);
  return [
    ...repeated.map((name) => `mutant "${name}": the name is not unique`),
    ...mutants.flatMap((mutant) =>
      faultsOf(mutant).map((fault) => `mutant "${mutant.name}" (${mutant.file}): ${fault}`),
    ),
  ];
}

function faultsOf(mutant: Mutant): string[] {
  const missing = mutant.tests.filter((file) => !existsSync(file)).map((file) => `${file} does not exist`);
  if (mutant.tests.length === 0) missing.push('it has no tests');
  return [...missing, ...sourceFaultsOf(mutant)];
}

function sourceFaultsOf(mutant: Mutant): string[] {
  if (!existsSync(mutant.file)) return ['the file does not exist'];
  try {
    const source = applyMutant(readFileSync(mutant.file, 'utf8'), mutant);
    // A syntax error fails every test, and would count as detected.
    if (mutant.file.endsWith('.ts')) stripTypeScriptTypes(source);
    return [];
  } catch (error) {
    return [(error as Error).message];
  }
}
