// Checks that imports, including type imports, point in one direction and form no cycle. A file belongs to the first
// layer whose prefix matches its path; it may import files of its own layer and of the listed layers.

import { globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, relative } from 'node:path';

/** Layers, and what they may import besides their own files. Paths are relative to src. */
const LAYERS: Readonly<Record<string, string>> = {
  'problem.ts': '',
  'system/': '',
  'version.ts': 'system/',
  'domain/': 'problem.ts',
  'scheduling/': '',
  'store/sqlite/': 'store/ scheduling/ domain/ system/',
  'store/postgres/': 'store/ scheduling/ domain/ system/',
  'store/': 'scheduling/ domain/ system/',
  'operations/': 'store/ scheduling/ domain/ problem.ts system/',
  'webhooks/': 'operations/ store/ scheduling/ domain/ system/',
  'config.ts': 'domain/ system/',
  'log.ts': 'config.ts domain/ version.ts',
  'http/': 'operations/ store/ scheduling/ domain/ config.ts problem.ts system/',
  'demo/': 'operations/ domain/ config.ts problem.ts system/',
  'console/': 'demo/ http/ operations/ store/ scheduling/ domain/ problem.ts system/',
  'metrics/': 'http/ webhooks/ operations/ database.ts store/ domain/ problem.ts',
  // Only this file knows the adapters.
  'database.ts': 'store/sqlite/ store/postgres/ store/ config.ts domain/',
  'key-ring-source.ts': 'config.ts store/ domain/ system/',
  'database-outage.ts': 'store/',
  'migration-log.ts': 'store/',
  'reduced-event-log.ts': 'domain/',
  'serving.ts':
    'console/ demo/ http/ metrics/ operations/ database.ts store/ scheduling/ config.ts domain/ problem.ts',
  'threads/':
    'serving.ts metrics/ webhooks/ operations/ database.ts store/ scheduling/ log.ts config.ts domain/ system/',
  'app.ts':
    'threads/ serving.ts http/ metrics/ webhooks/ operations/ database.ts database-outage.ts migration-log.ts ' +
    'reduced-event-log.ts key-ring-source.ts store/ scheduling/ log.ts config.ts domain/ system/ version.ts',
  'commands/':
    'app.ts threads/ demo/ operations/ database.ts key-ring-source.ts store/ log.ts config.ts domain/ ' +
    'problem.ts system/',
  'main.ts': 'commands/ config.ts domain/ version.ts',
  'executable.ts': '../bin/signals.js main.ts threads/ operations/ store/sqlite/ system/',
  '../bin/signals.js': '',
};

const IMPORT = /(?:from|import)\s*\(?\s*'(\.[^']+)'/g;

/** Returns one line per forbidden import or cycle under src. */
export function findImportFaults(): string[] {
  const graph = new Map(globSync('src/**/*.ts').map((file) => [file, importsOf(file)]));
  return [...findForbidden(graph), ...findCycles(graph)];
}

function importsOf(file: string): string[] {
  const source = readFileSync(file, 'utf8');
  return [...source.matchAll(IMPORT)].map(([, path]) => normalize(join(dirname(file), path!)));
}

function layerOf(file: string): string | undefined {
  return Object.keys(LAYERS).find((layer) => relative('src', file).startsWith(layer));
}

function findForbidden(graph: ReadonlyMap<string, string[]>): string[] {
  return [...graph].flatMap(([file, imports]) => {
    const layer = layerOf(file);
    if (layer === undefined) return [`${file} belongs to no layer`];
    const allowed: (string | undefined)[] = [layer, ...LAYERS[layer]!.split(' ')];
    return imports
      .filter((imported) => !allowed.includes(layerOf(imported)))
      .map((imported) => `${file} must not import ${imported}`);
  });
}

function findCycles(graph: ReadonlyMap<string, string[]>): string[] {
  const done = new Set<string>();
  const faults: string[] = [];
  const visit = (file: string, path: string[]): void => {
    if (path.includes(file)) faults.push(`cycle: ${[...path.slice(path.indexOf(file)), file].join(' -> ')}`);
    if (done.has(file) || path.includes(file)) return;
    for (const imported of graph.get(file) ?? []) visit(imported, [...path, file]);
    done.add(file);
  };
  for (const file of graph.keys()) visit(file, []);
  return faults;
}
