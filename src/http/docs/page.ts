// The layout of the pages at /docs and /errors. Their content security policy allows only what this service serves.

import { type Html, html } from '../response/html.ts';

export const docsHeaders = {
  'content-type': 'text/html; charset=utf-8',
  // Swagger UI embeds its icons as data: URLs.
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
} as const;

/** The empty icon prevents requests for /favicon.ico. */
export function page(title: string, head: Html, body: Html): Html {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} · User Group Service</title>
<link rel="icon" href="data:,">
${head}
</head>
<body>
<header><a href="/docs">User Group Service</a><a href="/errors">Errors</a><a href="/openapi.json">OpenAPI</a></header>
${body}
</body>
</html>
`;
}
