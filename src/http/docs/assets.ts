// The files that the pages load: those of Swagger UI, unmodified, and those of this folder.

import { Assets, CSS, JAVASCRIPT } from '../assets.ts';

/** In the order of loading. */
const files = {
  'swagger-ui.css': [CSS, import.meta.resolve('swagger-ui-dist/swagger-ui.css')],
  'page.css': [CSS, new URL('./page.css', import.meta.url)],
  'swagger-ui-bundle.js': [JAVASCRIPT, import.meta.resolve('swagger-ui-dist/swagger-ui-bundle.js')],
  'setup.js': [JAVASCRIPT, new URL('./setup.js', import.meta.url)],
} as const satisfies Record<string, readonly [contentType: string, location: string | URL]>;

export type DocsAssets = Assets<keyof typeof files>;

export function loadAssets(): Promise<DocsAssets> {
  return Assets.load('/docs/assets', files);
}
