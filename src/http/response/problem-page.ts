// A problem as a page, for people who use the console.

import { hash } from 'node:crypto';
import { Html, html } from './html.ts';
import { pageHeadersWith } from './page-headers.ts';

interface ProblemTexts {
  title: string;
  detail: string;
  requestId: string;
}

const STYLE =
  ':root{color-scheme:light dark;background:Canvas;color:CanvasText}' +
  'body{max-width:42rem;margin:4rem auto;padding:0 1.25rem;font:16px/1.5 system-ui,sans-serif;overflow-wrap:anywhere}' +
  'h1{font-size:1.6rem;line-height:1.25}';

export const problemPageHeaders = pageHeadersWith(`'sha256-${hash('sha256', STYLE, 'base64')}'`);

/** It loads nothing, so that it can be shown whatever has failed. */
export function problemPage({ title, detail, requestId }: ProblemTexts): Html {
  return html`<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>${title} · User Group Service</title><link rel="icon" href="data:,"><style>${new Html(STYLE)}</style></head>
<body><main><h1>${title}</h1><p>${detail}</p><p>Request ${requestId}</p><p><a href="/console">Back to the console</a></p></main></body>
</html>
`;
}
