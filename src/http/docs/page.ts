// The frame of a page: one file of HTML, without a script, that loads nothing. Its style stands inside, and the
// Content-Security-Policy allows that style and nothing else.

import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { type Content, Html, html } from './html.ts';

const style = readFileSync(new URL('./page.css', import.meta.url), 'utf8');

export const pageHeaders = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy':
    `default-src 'none'; style-src 'sha256-${hash('sha256', style, 'base64')}'; img-src data:; ` +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
} as const;

interface Page {
  title: string;
  /** Which entry of the bar at the top is this page. */
  path: string;
  /** The list of what is on the page. */
  contents: Content;
  main: Content;
}

// An empty picture, so that no browser asks for /favicon.ico.
export function page({ title, path, contents, main }: Page): string {
  const { text } = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} · User Group Service</title>
<link rel="icon" href="data:,">
<style>${new Html(style)}</style>
</head>
<body>
<header class="bar">
<a class="name" href="/docs">User Group Service</a>
<nav aria-label="Pages">${bar.map(([target, name]) => html`<a href="${target}"${target === path ? new Html(' aria-current="page"') : ''}>${name}</a>`)}</nav>
</header>
<div class="frame">
<nav class="contents" aria-label="On this page">${contents}</nav>
<main>${main}</main>
</div>
</body>
</html>
`;
  return text;
}

const bar = [
  ['/docs', 'API'],
  ['/errors', 'Errors'],
  ['/openapi.json', 'OpenAPI'],
] as const;
