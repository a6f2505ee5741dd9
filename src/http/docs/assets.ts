// The files that the pages load: those of Swagger UI, unmodified, and those of this folder.

import { Problem } from '../../problem.ts';
import { hasProgramFile, readDependencyFile, readProgramFile } from '../../system/program-file.ts';
import { type AssetFiles, Assets, CSS, JAVASCRIPT } from '../response/assets.ts';

/** Files in the order of loading. */
const files = {
  'swagger-ui.css': [CSS, () => readSwaggerUi('swagger-ui.css')],
  'page.css': [CSS, () => readProgramFile('http/docs/page.css')],
  'swagger-ui-bundle.js': [JAVASCRIPT, () => readSwaggerUi('swagger-ui-bundle.js')],
  'setup.js': [JAVASCRIPT, () => readProgramFile('http/docs/setup.js')],
} as const satisfies AssetFiles;

export type DocsAssets = Assets<keyof typeof files>;

export function loadAssets(): Promise<DocsAssets> {
  return Assets.load('/docs/assets', files);
}

/**
 * The build copies Swagger UI into the folder of this file, so that its package, which depends on a reporter of installations, is
 * only a development dependency. A clone, which runs the sources, uses the package.
 */
function readSwaggerUi(name: string): Buffer {
  const copy = `http/docs/swagger-ui/${name}`;
  if (hasProgramFile(copy)) return readProgramFile(copy);
  try {
    return readDependencyFile(`swagger-ui-dist/${name}`);
  } catch {
    const detail = 'The pages of a clone need its development dependencies: run "npm ci" without --omit=dev.';
    throw new Problem('not_found', detail);
  }
}
