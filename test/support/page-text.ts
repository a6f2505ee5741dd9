// What a page of the console says.

import type { TestResponse } from './http.ts';

/** The text of the content: without tags, with single spaces. */
export function textOf({ text }: TestResponse): string {
  const [, main = ''] = /<main[^>]*>([\s\S]*)<\/main>/.exec(text) ?? [];
  return unescaped(main.replace(/<[^>]*>/g, ' ')).replace(/\s+/g, ' ');
}

export function unescaped(html: string): string {
  return html.replace(/&#(\d+);/g, (_, code: string) => String.fromCodePoint(Number(code)));
}

/** The token that every form of the session contains. */
export function csrfOf({ text }: TestResponse): string {
  return /name="csrf" value="([^"]+)"/.exec(text)?.[1] ?? '';
}
