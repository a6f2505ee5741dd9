// Checks that imports, including type imports, point in one direction and form no cycle. A file belongs to the first
// layer whose prefix matches its path; it may import files of its own layer and of the listed layers.

import { globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';

const layers: [prefix: string, mayImport: string[]][] = [
  ['src/problem.ts', []],
  ['src/system/', []],
  ['src/version.ts', ['src/system/']],
  ['src/domain/', ['src/problem.ts']],
  ['src/scheduling/', []],
  ['src/store/sqlite/', ['src/store/', 'src/scheduling/', 'src/domain/', 'src/system/']],
  ['src/store/postgres/', ['src/store/', 'src/scheduling/', 'src/domain/', 'src/system/']],
  ['src/store/', ['src/scheduling/', 'src/domain/', 'src/system/']],
  ['src/operations/', ['src/store/', 'src/scheduling/', 'src/domain/', 'src/problem.ts', 'src/system/']],
  ['src/webhooks/', ['src/operations/', 'src/store/', 'src/scheduling/', 'src/domain/', 'src/system/']],
  ['src/config.ts', ['src/domain/', 'src/system/']],
  ['src/log.ts', ['src/config.ts', 'src/domain/', 'src/version.ts']],
  [
    'src/http/',
    [
      'src/operations/',
      'src/store/',
      'src/scheduling/',
      'src/domain/',
      'src/config.ts',
      'src/problem.ts',
      'src/system/',
      'src/version.ts',
    ],
  ],
  ['src/demo/', ['src/config.ts', 'src/operations/', 'src/domain/', 'src/problem.ts', 'src/system/']],
  [
    'src/console/',
    [
      'src/demo/',
      'src/http/',
      'src/operations/',
      'src/store/',
      'src/scheduling/',
      'src/domain/',
      'src/problem.ts',
      'src/system/',
    ],
  ],
  [
    'src/metrics/',
    [
      'src/http/',
      'src/webhooks/',
      'src/operations/',
      'src/store/',
      'src/database.ts',
      'src/domain/',
      'src/problem.ts',
    ],
  ],
  // Only this file knows the adapters.
  [
    'src/database.ts',
    ['src/store/sqlite/', 'src/store/postgres/', 'src/store/', 'src/config.ts', 'src/domain/'],
  ],
  ['src/key-ring-source.ts', ['src/config.ts', 'src/store/', 'src/domain/', 'src/system/']],
  ['src/database-outage.ts', ['src/store/']],
  ['src/migration-log.ts', ['src/store/']],
  ['src/reduced-event-log.ts', ['src/domain/']],
  [
    'src/serving.ts',
    [
      'src/console/',
      'src/demo/',
      'src/http/',
      'src/metrics/',
      'src/operations/',
      'src/database.ts',
      'src/store/',
      'src/scheduling/',
      'src/config.ts',
      'src/domain/',
      'src/problem.ts',
    ],
  ],
  [
    'src/threads/',
    [
      'src/serving.ts',
      'src/metrics/',
      'src/webhooks/',
      'src/operations/',
      'src/scheduling/',
      'src/database.ts',
      'src/store/',
      'src/log.ts',
      'src/config.ts',
      'src/domain/',
      'src/problem.ts',
      'src/system/',
    ],
  ],
  [
    'src/app.ts',
    [
      'src/threads/',
      'src/serving.ts',
      'src/http/',
      'src/metrics/',
      'src/webhooks/',
      'src/operations/',
      'src/database.ts',
      'src/database-outage.ts',
      'src/migration-log.ts',
      'src/reduced-event-log.ts',
      'src/key-ring-source.ts',
      'src/log.ts',
      'src/store/',
      'src/scheduling/',
      'src/config.ts',
      'src/domain/',
      'src/system/',
      'src/version.ts',
    ],
  ],
  [
    'src/commands/',
    [
      'src/app.ts',
      'src/threads/',
      'src/demo/',
      'src/database.ts',
      'src/key-ring-source.ts',
      'src/log.ts',
      'src/operations/',
      'src/store/',
      'src/config.ts',
      'src/domain/',
      'src/problem.ts',
      'src/system/',
    ],
  ],
  ['src/main.ts', ['src/commands/', 'src/config.ts', 'src/domain/', 'src/version.ts']],
  [
    'src/executable.ts',
    ['bin/signals.js', 'src/main.ts', 'src/threads/', 'src/operations/', 'src/store/sqlite/', 'src/system/'],
  ],
  ['bin/signals.js', []],
];

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

function layerOf(file: string): (typeof layers)[number] | undefined {
  return layers.find(([prefix]) => file.startsWith(prefix));
}

function findForbidden(graph: ReadonlyMap<string, string[]>): string[] {
  return [...graph].flatMap(([file, imports]) => {
    const layer = layerOf(file);
    if (layer === undefined) return [`${file} belongs to no layer`];
    const allowed = [layer[0], ...layer[1]];
    return imports
      .filter((imported) => !allowed.includes(layerOf(imported)?.[0] ?? ''))
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
