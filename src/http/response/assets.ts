// Static files for pages. The digest in their path lets browsers cache them forever.

import { hash } from 'node:crypto';
import type { FastifyReply } from 'fastify';
import { type Compressed, compressed, negotiate } from './compressed.ts';
import { nothingAtPath } from './problem.ts';

/** Media types by the extension of the name. */
const TYPES: Readonly<Record<string, string>> = {
  css: 'text/css',
  js: 'text/javascript',
  svg: 'image/svg+xml',
};

const HEADERS = {
  'cache-control': 'public, max-age=31536000, immutable',
  'x-content-type-options': 'nosniff',
};

interface Asset extends Compressed {
  contentType: string;
}

export class Assets<Name extends string> {
  readonly #byPath: ReadonlyMap<string, Asset>;
  readonly #folder: string;
  readonly #directory: string;

  /** Reads the files, for paths below `folder`, and compresses them outside the event loop. */
  static async load<Name extends string>(
    folder: string,
    files: Readonly<Record<Name, () => Buffer>>,
  ): Promise<Assets<Name>> {
    const assets = await Promise.all(
      Object.entries<() => Buffer>(files).map(async ([name, read]) => {
        const contentType = `${TYPES[name.split('.').at(-1)!]}; charset=utf-8`;
        return [name, { contentType, ...(await compressed(read())) }] as const;
      }),
    );
    return new Assets(folder, assets);
  }

  private constructor(folder: string, assets: readonly (readonly [name: string, asset: Asset])[]) {
    const digests = assets.map(([, { bytes }]) => hash('sha256', bytes));
    this.#folder = folder;
    this.#directory = hash('sha256', digests.join()).slice(0, 16);
    this.#byPath = new Map(assets.map(([name, asset]) => [`${this.#directory}/${name}`, asset]));
  }

  url(name: Name): string {
    return `${this.#folder}/${this.#directory}/${name}`;
  }

  /** `path` is relative to the folder. Throws `not_found`. */
  send(reply: FastifyReply, path: string): Buffer {
    const asset = this.#byPath.get(path);
    if (asset === undefined) throw nothingAtPath();
    return negotiate(asset, { ...HEADERS, 'content-type': asset.contentType }, reply);
  }
}
