// The files that the pages load: those of Swagger UI, unmodified, and those of this folder.

import { existsSync } from 'node:fs';
import { Problem } from '../../problem.ts';
import { Assets, CSS, JAVASCRIPT } from '../response/assets.ts';

/** In the order of loading. */
const files = {
  'swagger-ui.css': [CSS, swaggerUi('swagger-ui.css')],
  'page.css': [CSS, new URL('./page.css', import.meta.url)],
  'swagger-ui-bundle.js': [JAVASCRIPT, swaggerUi('swagger-ui-bundle.js')],
  'setup.js': [JAVASCRIPT, new URL('./setup.js', import.meta.url)],
} as const satisfies Record<string, readonly [contentType: string, location: string | URL]>;

export type DocsAssets = Assets<keyof typeof files>;

export function loadAssets(): Promise<DocsAssets> {
  return Assets.load('/docs/assets', files);
}

/**
 * The build copies Swagger UI next to this file, so that its package, which depends on a reporter of installations, is
 * only a development dependency. A clone, which runs the sources, uses the package.
 */
function swaggerUi(name: string): string | URL {
  const copy = new URL(`./swagger-ui/${name}`, import.meta.url);
  if (existsSync(copy)) return copy;
  try {
    return import.meta.resolve(`swagger-ui-dist/${name}`);
  } catch {
    const detail = 'The pages of a clone need its development dependencies: run "npm ci" without --omit=dev.';
    throw new Problem('not_found', detail);
  }
}
