// One operation of the description: its words and fields, and beside them its examples.

import { problems } from '../../problem.ts';
import type { OpenApi, OperationObject, ResponseObject } from '../openapi/object.ts';
import type { Schema } from '../openapi/schema.ts';
import { curlExample, jsonExample } from './code.ts';
import { type Html, html, nothing } from './html.ts';
import { inline, prose } from './prose.ts';
import { fieldList, fieldsOf } from './schema.ts';

/** An operation, and where it is. */
export interface Entry {
  method: string;
  path: string;
  operation: OperationObject;
}

export function operationSection(document: OpenApi, { method, path, operation }: Entry): Html {
  const { operationId, summary, description } = operation;
  return html`<section class="entry" id="${operationId}">
<h3><a href="#${operationId}">${summary}</a></h3>
<p>${methodBadge(method)} <code class="plain">${breakable(path)}</code></p>
<div class="sides">
<div>
${prose(description)}
${parameters(operation)}
${requestBody(document, operation)}
${answers(document, operation)}
${refusals(document, operation)}
</div>
<div class="examples">
${requestExamples(method, path, operation)}
${answerExamples(document, operation)}
</div>
</div>
</section>`;
}

export function methodBadge(method: string): Html {
  return html`<span class="method ${method.toLowerCase()}">${method}</span>`;
}

export function statusBadge(status: number): Html {
  const kind = status < 400 ? 'success' : status < 500 ? 'refusal' : 'failure';
  return html`<span class="status ${kind}">${status}</span>`;
}

/** A path that does not fit into a line breaks before a slash. */
function breakable(path: string): Html {
  return html`${path.split(/(?=\/)/).map((part) => html`<wbr>${part}`)}`;
}

function parameters({ parameters = [] }: OperationObject): Html {
  if (parameters.length === 0) return nothing;
  const fields = parameters.map(({ in: place, required, ...parameter }) => ({
    ...parameter,
    note: required ? `${place}, required` : place,
  }));
  return html`<h4>Parameters</h4>${fieldList(fields)}`;
}

function requestBody(document: OpenApi, { requestBody }: OperationObject): Html {
  if (requestBody === undefined) return nothing;
  const mediaTypes = Object.keys(requestBody.content).map((mediaType) => html` <code>${mediaType}</code>`);
  const schema = schemaOf(document, requestBody);
  return html`<h4>Body <small>${mediaTypes}</small></h4>${fieldList(fieldsOf(schema, 'request'))}`;
}

function answers(document: OpenApi, operation: OperationObject): Html {
  return html`${responsesOf(document, operation, isSuccess).map(([status, response]) => {
    const fields = fieldsOf(schemaOf(document, response), 'answer');
    return html`<h4>${statusBadge(status)} ${inline(response.description)}</h4>
${headers(document, response)}
${fields.length === 0 ? nothing : html`<details><summary>Fields of the answer</summary>${fieldList(fields)}</details>`}`;
  })}`;
}

/** Those that not every answer has. */
function headers({ components }: OpenApi, response: ResponseObject): Html {
  const names = Object.keys(response.headers).filter((name) => !isInEveryAnswer(name));
  if (names.length === 0) return nothing;
  return fieldList(names.map((name) => ({ name, ...components.headers[name]!, note: 'header' })));
}

function isInEveryAnswer(header: string): boolean {
  return header === 'X-Request-Id' || header === 'Cache-Control';
}

function refusals(document: OpenApi, operation: OperationObject): Html {
  const rows = responsesOf(document, operation, (status) => !isSuccess(status)).map(([status, response]) => {
    const codes = Object.keys(mediaOf(response)?.examples ?? {}) as (keyof typeof problems)[];
    const links = codes.map(
      (code) =>
        html`<li><a href="/errors#${code}" title="${problems[code].title}"><code>${code}</code></a></li>`,
    );
    return html`<dt>${statusBadge(status)}</dt><dd><ul>${links}</ul></dd>`;
  });
  return html`<h4>Errors</h4><dl class="codes">${rows}</dl>`;
}

function requestExamples(method: string, path: string, operation: OperationObject): Html {
  const others = Object.values(mediaOf(operation.requestBody)?.examples ?? {}).slice(1);
  return html`<h4>Request</h4>${curlExample(method, path, operation)}
${others.map(({ summary, value }) => example(html`${summary}`, value))}`;
}

function answerExamples(document: OpenApi, operation: OperationObject): Html {
  const examples = responsesOf(document, operation, isSuccess).flatMap(([status, response]) =>
    Object.values(mediaOf(response)?.examples ?? {}).map((each) => ({ status, ...each })),
  );
  const [first, ...others] = examples;
  if (first === undefined) return nothing;
  return html`<h4>Answer ${statusBadge(first.status)} <small>${first.summary}</small></h4>${jsonExample(first.value)}
${others.map(({ status, summary, value }) => example(html`${statusBadge(status)} ${summary}`, value))}`;
}

function example(summary: Html, value: unknown): Html {
  return html`<details><summary>${summary}</summary>${jsonExample(value)}</details>`;
}

type WithContent = Pick<ResponseObject, 'content'>;

function mediaOf({ content = {} }: WithContent = {}) {
  return Object.values(content)[0];
}

function schemaOf({ components }: OpenApi, holder: WithContent): Schema {
  const name = mediaOf(holder)?.schema.$ref.split('/').at(-1);
  return (name !== undefined && components.schemas[name]) || {};
}

function responsesOf(
  { components }: OpenApi,
  { responses }: OperationObject,
  isWanted: (status: number) => boolean,
): [status: number, response: ResponseObject][] {
  return Object.entries(responses)
    .filter(([status]) => isWanted(Number(status)))
    .map(([status, response]) => [
      Number(status),
      '$ref' in response ? components.responses[response.$ref.split('/').at(-1)!]! : response,
    ]);
}

function isSuccess(status: number): boolean {
  return status < 400;
}
