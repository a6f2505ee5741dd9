// Breadcrumbs of a page: the pages at the prefixes of its path.

import { type Caller, isPermitted } from '../../domain/api-token.ts';
import { wordsOf } from '../form/fields.ts';
import type { Page } from '../page.ts';
import { idInPath } from './html.ts';

export interface Breadcrumb {
  path: string;
  text: string;
}

export class Breadcrumbs {
  readonly #pages: readonly (Pick<Page, 'permissions'> & { pattern: RegExp; isOfId: boolean })[];
  /** Path prefixes in which `-` stands in place of an id: an id can also be `-`. */
  readonly #withoutId: ReadonlySet<string>;

  constructor(pages: readonly Page[]) {
    this.#pages = pages
      .filter(({ method }) => method === 'GET')
      .map(({ path, permissions }) => ({
        permissions,
        pattern: new RegExp(`^/console${path.replaceAll(/:\w+/g, '[^/]+')}$`),
        isOfId: /:\w+$/.test(path),
      }));
    this.#withoutId = new Set(pages.flatMap(({ path }) => /^.*\/-\/[^/]+/.exec(`/console${path}`) ?? []));
  }

  /** Returns the pages above the one at the URL that the caller may open, from the top. */
  of(url: string, caller: Caller): Breadcrumb[] {
    const [path = ''] = url.split(/[?#]/, 1);
    const parts = path.split('/');
    // The shortest prefix is `/console/section`, which has three parts.
    const starts = parts.slice(3).map((_, index) => parts.slice(0, index + 3));
    return starts.flatMap((start, index) => {
      const next = parts.slice(0, index + 4).join('/');
      return this.#withoutId.has(next) ? [] : this.#findCrumb(start.join('/'), start.at(-1)!, caller);
    });
  }

  #findCrumb(path: string, part: string, caller: Caller): Breadcrumb[] {
    const pages = this.#pages.filter(({ pattern }) => pattern.test(path));
    if (!pages.some(({ permissions }) => isPermitted(caller, permissions))) return [];
    const isId = pages.every(({ isOfId }) => isOfId);
    return [{ path, text: isId ? idInPath(decoded(part)) : wordsOf(part) }];
  }
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
