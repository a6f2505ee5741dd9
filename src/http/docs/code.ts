// Examples as they are sent: JSON and commands, with their parts told apart by colour.

import type { OperationObject } from '../openapi/object.ts';
import { type Content, type Html, html } from './html.ts';

const JSON_TOKEN = /("(?:[^"\\]|\\.)*"(?=:)|"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*|\btrue\b|\bfalse\b|\bnull\b)/;

export function jsonExample(value: unknown): Html {
  return html`<pre><code>${highlighted(JSON.stringify(value, null, 2))}</code></pre>`;
}

/** A command that calls the operation, for a shell that knows BASE_URL and API_TOKEN. */
export function curlExample(method: string, path: string, operation: OperationObject): Html {
  const [mediaType, content] = Object.entries(operation.requestBody?.content ?? {})[0] ?? [];
  const body = Object.values(content?.examples ?? {})[0]?.value;
  const lines: Content[] = [
    html`curl${method === 'GET' && body === undefined ? '' : ` -X ${method}`} <span class="string">"$BASE_URL${pathExample(path, operation)}"</span>`,
  ];
  if (operation.security.length > 0) lines.push(header('Authorization: Token $API_TOKEN'));
  if (mediaType !== undefined) {
    lines.push(header(`Content-Type: ${mediaType}`));
    lines.push(html`-d '${highlighted(JSON.stringify(body, null, 2))}'`);
  }
  const command = lines.map((line, index) => (index === 0 ? line : html` \\\n  ${line}`));
  return html`<pre><code>${command}</code></pre>`;
}

function header(text: string): Html {
  return html`-H <span class="string">"${text}"</span>`;
}

function pathExample(path: string, { parameters = [] }: OperationObject): string {
  return path.replace(/\{(\w+)\}/g, (_, name) =>
    encodeURIComponent(String(parameters.find((parameter) => parameter.name === name)?.example)),
  );
}

function highlighted(json: string): Content {
  // What a pattern with one group splits stands at the odd places.
  return json.split(JSON_TOKEN).map((part, index, parts) => {
    if (index % 2 === 0) return part;
    if (!part.startsWith('"')) return html`<span class="number">${part}</span>`;
    const isKey = parts[index + 1]?.startsWith(':');
    return html`<span class="${isKey ? 'key' : 'string'}">${part}</span>`;
  });
}
