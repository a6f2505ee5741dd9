// The part of CommonMark that the description of the API is written in: paragraphs, lists, code, strong text, links.

import { type Content, type Html, html } from './html.ts';

const INLINE = /(`[^`]+`|\*\*[^*]+\*\*|\[[^\]]+\]\([^)]+\))/;

/** Paragraphs and lists. */
export function prose(text: string): Html {
  const blocks = text.split('\n\n').map((block) => {
    if (!block.startsWith('- ')) return html`<p>${inline(block)}</p>`;
    const items = block.slice(2).split('\n- ');
    return html`<ul>${items.map((item) => html`<li>${inline(item)}</li>`)}</ul>`;
  });
  return html`${blocks}`;
}

/** Text within a line. */
export function inline(text: string): Content {
  return text.split(INLINE).map((part) => {
    if (part.startsWith('`')) return html`<code>${part.slice(1, -1)}</code>`;
    if (part.startsWith('**')) return html`<strong>${part.slice(2, -2)}</strong>`;
    const link = /^\[(.+)\]\((.+)\)$/.exec(part);
    return link === null ? part : html`<a href="${link[2]!}">${link[1]!}</a>`;
  });
}
