// Extracts what the pages of the console show, for assertions.

import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { type ConsoleBrowser, fieldsOf } from './console.ts';
import { type Element, elementsOf } from './html.ts';
import type { TestResponse } from './http.ts';

/** Returns the text of the content, with a space for each tag. */
export function textOf({ text }: TestResponse): string {
  const [, main = ''] = /<main[^>]*>([\s\S]*)<\/main>/.exec(text) ?? [];
  return unescaped(main.replace(/<[^>]*>/g, ' ')).replace(/\s+/g, ' ');
}

export function unescaped(html: string): string {
  return html.replace(/&#(\d+);/g, (_, number: string) => String.fromCodePoint(Number(number)));
}

/** Returns the token that every form of the session contains. */
export function csrfOf({ text }: TestResponse): string {
  return /name="csrf" value="([^"]+)"/.exec(text)?.[1] ?? '';
}

/** Returns the text of the error beside the field. */
export function errorOf({ text }: TestResponse, field: string): string | undefined {
  return elementsOf(text).find(({ attributes }) => attributes.id === `${field}-error`)?.text;
}

/** Returns what the form with this action would send. */
export async function openForm(
  browser: ConsoleBrowser,
  path: string,
  action = path,
): Promise<Record<string, string>> {
  const page = await browser.get(path);
  assert.equal(page.status, 200, `${path}: ${page.status}`);
  return { ...fieldsOf(page.text, action) };
}

/** Returns the actions of the forms on the page. */
export function actionsOf({ text }: TestResponse): string[] {
  const forms = elementsOf(text).filter(({ name }) => name === 'form');
  return forms.map(({ attributes }) => attributes.action!);
}

const ELEMENTS = new Set(
  (
    'html head meta title link script noscript body a header nav div span bdi form input button main h1 h2 h3 br p dl dt dd pre code ' +
    'style ul ol li section table caption thead tbody tr th td time details summary label select option datalist textarea fieldset legend strong'
  ).split(' '),
);

/**
 * Checks that a page has only the elements of the console and `others`, only URLs of its own, and no style
 * that its policy blocks.
 */
export function checkMarkup(
  { headers, text, status }: TestResponse,
  others: readonly string[] = [],
): Element[] {
  assert(status < 500, text);
  const elements = elementsOf(text);
  for (const { name, attributes } of elements) {
    assert(ELEMENTS.has(name) || others.includes(name), name);
    for (const [attribute, value] of Object.entries(attributes)) {
      assert(!attribute.startsWith('on') && attribute !== 'style', attribute);
      if (['href', 'src', 'action', 'formaction', 'hx-get'].includes(attribute))
        assert(/^(?:\/console\/|\/console$|#main$|#at\/|data:,$)/.test(value), value);
    }
  }
  const scripts = elements.filter(({ name }) => name === 'script');
  assert(scripts.every(({ attributes, text: code }) => attributes.src && code === ''));
  const policy = String(headers['content-security-policy']);
  for (const { text: css } of elements.filter(({ name }) => name === 'style'))
    assert(policy.includes(`; style-src 'sha256-${hash('sha256', css, 'base64')}';`), policy);
  return elements;
}
