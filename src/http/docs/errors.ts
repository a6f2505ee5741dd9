// /errors: every code, with the anchor that the `type` of an error points to.

import { type ProblemCode, problems } from '../../problem.ts';
import { type Endpoint, problemCodesOf } from '../openapi/endpoint.ts';
import { type Occurrence, problemDescriptions } from '../openapi/problem.ts';
import { exampleOf } from '../openapi/refusal.ts';
import { jsonExample } from './code.ts';
import { type Html, html } from './html.ts';
import { methodBadge, statusBadge } from './operation.ts';
import { page } from './page.ts';
import { inline, prose } from './prose.ts';

const codes = Object.keys(problems) as ProblemCode[];

const about = `
Every answer that is no success is one object (RFC 9457) with \`success: 0\`, as \`application/problem+json\`, whatever raised it: a field, the router, the HTTP parser, overload, a bug. It is the whole body, and no answer shows a token.

- \`code\` is what a program acts on. Codes are added, never renamed.
- \`detail\` says what is wrong with this request, and what to do next.
- \`errors\` points at the places of the body that are at fault, where there are such.
- \`request_id\` finds the request in the log of the service; the header \`X-Request-Id\` has it too.
- \`type\` leads to the code on this page.

A 4xx stays refused until the request changes, except 408 and 429. These and every 5xx may be sent again as they are, since every call can be repeated; 429 and 503 say by \`Retry-After\` how many seconds to wait.
`.trim();

export function errorsPage(endpoints: readonly Endpoint[]): string {
  return page({
    title: 'Errors',
    path: '/errors',
    contents: html`<h2>Errors</h2><ul>${codes.map(contentsEntry)}</ul>`,
    main: html`<section id="about"><h1>Errors</h1>${prose(about)}</section>
${codes.map((code) => codeSection(code, endpoints))}`,
  });
}

function contentsEntry(code: ProblemCode): Html {
  return html`<li><a href="#${code}">${statusBadge(problems[code].status)} ${code}</a></li>`;
}

function codeSection(code: ProblemCode, endpoints: readonly Endpoint[]): Html {
  const { status, title } = problems[code];
  const { meaning, remedy, example } = problemDescriptions[code];
  return html`<section class="entry" id="${code}">
<h2><a href="#${code}">${statusBadge(status)} <code class="plain">${code}</code></a></h2>
<p class="lead">${title}.</p>
<div class="sides">
<div>
<h3>What it means</h3><p>${inline(meaning)}</p>
<h3>What to do</h3><p>${inline(remedy)}</p>
<h3>Where it occurs</h3>${places(code, endpoints)}
</div>
<div class="examples"><h3>Example</h3>${jsonExample(exampleOf(example).value)}</div>
</div>
</section>`;
}

function places(code: ProblemCode, endpoints: readonly Endpoint[]): Html {
  const sentence = sentences[problemDescriptions[code].occurrence];
  if (sentence !== null) return html`<p>${sentence}</p>`;
  const links = endpoints
    .filter((endpoint) => problemCodesOf(endpoint).includes(code))
    .map(
      ({ method, operationId, description }) =>
        html`<li><a href="/docs#${operationId}">${methodBadge(method)} ${description.summary}</a></li>`,
    );
  return html`<ul class="places">${links}</ul>`;
}

/** null where the operations are listed. */
const sentences = {
  'every request': 'At every request.',
  'API token': 'At every call that needs an API token.',
  body: 'At every call that has a body.',
  permission: null,
  'path parameter': null,
  named: null,
} as const satisfies Record<Occurrence, string | null>;
