// A problem as a page, for people who use the console.

import { html } from 'ghtml';

interface ProblemTexts {
  title: string;
  detail: string;
  requestId: string;
}

/** HTML. It loads nothing, so that it can be shown whatever has failed. */
export function problemPage({ title, detail, requestId }: ProblemTexts): string {
  return html`<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>${title} · User Group Service</title><link rel="icon" href="data:,"></head>
<body><main><h1>${title}</h1><p>${detail}</p><p>Request ${requestId}</p><p><a href="/console">Back to the console</a></p></main></body>
</html>
`;
}
