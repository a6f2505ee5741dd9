// /errors: every error code, under the anchor that the `type` of a problem links to.

import type { ProblemCode } from '../../problem.ts';
import { type Html, html, joined } from '../response/html.ts';
import { problems } from '../response/problem.ts';
import { problemDescriptions } from './error-docs.ts';

const introduction = html`
<h1>Errors</h1>
<p>Every response that is not a success is one object (RFC 9457) with <code>success: 0</code>, sent as <code>application/problem+json</code>.</p>
<ul>
<li>Act on <code>code</code>. Codes are added, never renamed.</li>
<li><code>detail</code> states what is wrong with this request and what to do next.</li>
<li><code>errors</code> points to the invalid fields, if any.</li>
<li><code>request_id</code> identifies the request in the log; the header <code>X-Request-Id</code> has it too.</li>
</ul>
<p>A 4xx stays rejected until the request, or what it refers to, changes, except 408 and 429. Retry these and every 5xx but 501 unchanged; for 429 and 503, <code>Retry-After</code> has the seconds to wait.</p>`;

export function errorsMain(): Html {
  const codes = Object.keys(problems) as ProblemCode[];
  return html`<main class="errors">${introduction}\n${joined(codes.map(section), '\n')}\n</main>`;
}

function section(code: ProblemCode): Html {
  const { status, title } = problems[code];
  const { meaning, remedy } = problemDescriptions[code];
  return html`<h2 id="${code}"><a href="#${code}">${status} <code>${code}</code></a></h2>
<p><strong>${inline(title)}.</strong> ${inline(meaning)}</p>
<p>${inline(remedy)}</p>`;
}

/** Shows text between backticks as code. */
function inline(text: string): Html {
  const parts = text.split('`');
  return html`${parts.map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : html`${part}`))}`;
}
