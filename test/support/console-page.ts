// What the pages of the console show, for assertions.

import assert from 'node:assert/strict';
import { type ConsoleBrowser, fieldsOf } from './console.ts';
import { elementsOf } from './html.ts';
import type { TestResponse } from './http.ts';

/** The text of the content, with a space for each tag. */
export function textOf({ text }: TestResponse): string {
  const [, main = ''] = /<main[^>]*>([\s\S]*)<\/main>/.exec(text) ?? [];
  return unescaped(main.replace(/<[^>]*>/g, ' ')).replace(/\s+/g, ' ');
}

export function unescaped(html: string): string {
  return html.replace(/&#(\d+);/g, (_, number: string) => String.fromCharCode(Number(number)));
}

/** The text of the error beside the field. */
export function errorOf({ text }: TestResponse, field: string): string | undefined {
  return elementsOf(text).find(({ attributes }) => attributes.id === `${field}-error`)?.text;
}

/** What the form with this action would send. */
export async function openForm(
  browser: ConsoleBrowser,
  path: string,
  action = path,
): Promise<Record<string, string>> {
  const page = await browser.get(path);
  assert.equal(page.status, 200, `${path}: ${page.status}`);
  return { ...fieldsOf(page.text, action) };
}

/** The actions of the forms on the page. */
export function actionsOf({ text }: TestResponse): string[] {
  const forms = elementsOf(text).filter(({ name }) => name === 'form');
  return forms.map(({ attributes }) => attributes.action!);
}

/** Breaks out of text, of attributes in either quotes, and of text areas. */
export const MARKUP = `</textarea></title><script>alert(1)</script>"'><img src=x onerror=alert(1)>`;

/** The page shows the markup, as text. */
export function assertEscaped({ text }: TestResponse): void {
  const elements = elementsOf(text);
  assert.ok(!elements.some(({ name }) => name === 'img'));
  for (const { name, attributes } of elements) if (name === 'script') assert.ok(attributes.src);
  assert.ok(unescaped(text).includes('<script>alert(1)</script>'));
}
