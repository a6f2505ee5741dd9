// /docs: the description of the API, to be read by people.

import type { OpenApi } from '../openapi/object.ts';
import { type Html, html } from './html.ts';
import { type Entry, methodBadge, operationSection } from './operation.ts';
import { page } from './page.ts';
import { inline, prose } from './prose.ts';

export function referencePage(document: OpenApi): string {
  const entries = entriesOf(document);
  const groups = document.tags.map((tag) => ({
    ...tag,
    entries: entries.filter(({ operation }) => operation.tags.includes(tag.name)),
  }));
  return page({
    title: 'API',
    path: '/docs',
    contents: html`<h2>Start</h2>
<ul><li><a href="#about">About</a></li><li><a href="#authentication">Authentication</a></li></ul>
${groups.map(({ name, entries }) => html`<h2>${name}</h2><ul>${entries.map(contentsEntry)}</ul>`)}`,
    main: html`${introduction(document)}
${groups.map(
  ({ name, description, entries }) => html`<section><h2>${name}</h2><p>${inline(description)}</p></section>
${entries.map((entry) => operationSection(document, entry))}`,
)}`,
  });
}

function entriesOf({ paths }: OpenApi): Entry[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  );
}

function contentsEntry({ method, operation }: Entry): Html {
  return html`<li><a href="#${operation.operationId}">${methodBadge(method)} ${operation.summary}</a></li>`;
}

function introduction({ info, components }: OpenApi): Html {
  return html`<section id="about">
<h1>${info.title}</h1>
<p class="lead">${info.summary}</p>
${prose(info.description)}
<p>This is version ${info.version}. Tools read <a href="/openapi.json">the same as OpenAPI</a>. In the examples, <code>BASE_URL</code> is where the service is, such as <code>http://127.0.0.1:8080</code>.</p>
</section>
<section id="authentication"><h2>Authentication</h2>${prose(components.securitySchemes.apiToken!.description)}</section>`;
}
