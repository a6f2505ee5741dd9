// The files that the pages load: those of Swagger UI, unmodified, and those of this folder. The digest in their path
// lets browsers cache them forever.

import { hash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';

export interface Asset {
  contentType: string;
  bytes: Buffer;
  gzipped: Buffer;
}

const JAVASCRIPT = 'text/javascript; charset=utf-8';
const CSS = 'text/css; charset=utf-8';

/** In the order of loading. */
const files = {
  'swagger-ui.css': [CSS, import.meta.resolve('swagger-ui-dist/swagger-ui.css')],
  'page.css': [CSS, new URL('./page.css', import.meta.url)],
  'swagger-ui-bundle.js': [JAVASCRIPT, import.meta.resolve('swagger-ui-dist/swagger-ui-bundle.js')],
  'setup.js': [JAVASCRIPT, new URL('./setup.js', import.meta.url)],
} as const satisfies Record<string, [contentType: string, location: string | URL]>;

export type AssetName = keyof typeof files;

export const assetNames = Object.keys(files) as AssetName[];

const compress = promisify(gzip);

export class Assets {
  readonly #byPath: ReadonlyMap<string, Asset>;
  readonly #directory: string;

  /** Reads 2 MB and compresses them outside the event loop. */
  static async load(): Promise<Assets> {
    const assets = await Promise.all(
      Object.entries(files).map(async ([name, [contentType, location]]) => {
        const bytes = await readFile(new URL(location));
        return [name, { contentType, bytes, gzipped: await compress(bytes) }] as const;
      }),
    );
    return new Assets(assets);
  }

  private constructor(assets: readonly (readonly [name: string, asset: Asset])[]) {
    const digests = assets.map(([, { bytes }]) => hash('sha256', bytes));
    this.#directory = hash('sha256', digests.join()).slice(0, 16);
    this.#byPath = new Map(assets.map(([name, asset]) => [`${this.#directory}/${name}`, asset]));
  }

  url(name: AssetName): string {
    return `/docs/assets/${this.#directory}/${name}`;
  }

  /** `path` is relative to /docs/assets/. */
  find(path: string): Asset | undefined {
    return this.#byPath.get(path);
  }
}
