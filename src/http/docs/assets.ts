// Files that the pages load: Swagger UI, unmodified, and the files of this folder.

import { hasProgramFile, readDependencyFile, readProgramFile } from '../../system/program-file.ts';
import { Assets } from '../response/assets.ts';

/** Files in loading order. */
const files = {
  'swagger-ui.css': () => readSwaggerUi('swagger-ui.css'),
  'page.css': () => readProgramFile('http/docs/page.css'),
  'swagger-ui-bundle.js': () => readSwaggerUi('swagger-ui-bundle.js'),
  'setup.js': () => readProgramFile('http/docs/setup.js'),
};

export type DocsAssets = Assets<keyof typeof files>;

export function loadAssets(): Promise<DocsAssets> {
  return Assets.load('/docs/assets', files);
}

/**
 * The build copies Swagger UI into this folder, so its package can be a development dependency: the package
 * itself depends on one that reports installations. A clone, which runs the sources, reads the package; one without
 * development dependencies has an empty file.
 */
function readSwaggerUi(name: string): Buffer {
  const copy = `http/docs/swagger-ui/${name}`;
  if (hasProgramFile(copy)) return readProgramFile(copy);
  try {
    return readDependencyFile(`swagger-ui-dist/${name}`);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error;
    return Buffer.alloc(0);
  }
}
