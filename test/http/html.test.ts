// HTML is a type: what may be inserted into a template, and what does not compile. `npm run check` compiles
// this file, and reports an expected error that does not occur.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { Html, html, joined, NO_HTML } from '../../src/http/response/html.ts';

const element = html`<b>bold</b>`;
const asText = (text: string): string => text;
const asHtml = (content: Html): Html => content;

describe('A template', () => {
  it('escapes text', () => {
    assert.equal(
      html`<p title="${`"'`}">${'<i>&`='}</p>`.markup,
      '<p title="&#34;&#39;">&#60;i&#62;&#38;&#96;&#61;</p>',
    );
  });

  it('escapes every text so that no character of it is markup', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const { markup } = html`${text}`;
        assert.doesNotMatch(markup, /["'<>`=]|&(?!#\d+;)/);
        assert.equal(
          markup.replace(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code))),
          text,
        );
      }),
    );
  });

  it('inserts numbers and HTML', () => {
    assert.equal(
      html`${1.5} ${element} ${[element, element]}`.markup,
      '1.5 <b>bold</b> <b>bold</b><b>bold</b>',
    );
    assert.equal(html`${NO_HTML}${''}`.markup, '');
    assert.equal(joined([element, element], ' < ').markup, '<b>bold</b> &#60; <b>bold</b>');
  });
});

describe('What does not compile', () => {
  const refused: Record<string, () => unknown> = {
    // @ts-expect-error
    'an object in a template': () => html`${{ text: 'a' }}`,
    // @ts-expect-error
    'an object with the members of HTML in a template': () => html`${{ markup: '<b>' }}`,
    // @ts-expect-error
    'a date in a template': () => html`${new Date(0)}`,
    // @ts-expect-error
    'undefined in a template': () => html`${undefined}`,
    // @ts-expect-error
    'null in a template': () => html`${null}`,
    // @ts-expect-error
    'a boolean in a template': () => html`${true}`,
    // @ts-expect-error
    'a promise in a template': () => html`${Promise.resolve(element)}`,
    // @ts-expect-error
    'a function in a template': () => html`${() => element}`,
    // @ts-expect-error
    'a list of texts in a template': () => html`${['a', 'b']}`,
    // @ts-expect-error
    'text where HTML is expected': () => asHtml('<b>bold</b>'),
    // @ts-expect-error
    'a number where HTML is expected': () => asHtml(1),
    // @ts-expect-error
    'an object where HTML is expected': () => asHtml({ markup: '<b>bold</b>' }),
    // @ts-expect-error
    'HTML where text is expected': () => asText(element),
    // @ts-expect-error
    'HTML joined as text': () => asText([element].join('')) satisfies Html,
  };
  for (const what of Object.keys(refused)) it(what, () => assert.ok(refused[what]));
});

it('Markup from elsewhere is trusted by name', () => {
  assert.equal(html`<style>${new Html('a > b {}')}</style>`.markup, '<style>a > b {}</style>');
});
