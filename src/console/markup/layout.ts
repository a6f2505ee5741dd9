// The document around the content of every page.

import { isPermitted, type Permission } from '../../domain/api-token.ts';
import type { Assets } from '../../http/response/assets.ts';
import type { FramedContent } from '../../http/response/problem-page.ts';
import { actionForm, submit } from '../form/fields.ts';
import { ADMINS, READERS } from '../page.ts';
import type { SignedIn } from '../session/session.ts';
import type { Breadcrumb } from './breadcrumbs.ts';
import { bdi, buttonTo, type Html, html, idLink, isolated, NO_HTML } from './html.ts';

const navigation: readonly { path: string; text: string; permissions: readonly Permission[] }[] = [
  { path: '/console', text: 'Overview', permissions: READERS },
  { path: '/console/user-groups', text: 'User groups', permissions: READERS },
  { path: '/console/events', text: 'Events', permissions: READERS },
  { path: '/console/catalogue', text: 'Catalogue', permissions: READERS },
  { path: '/console/integrations', text: 'Integrations', permissions: ADMINS },
  { path: '/console/webhooks', text: 'Webhooks', permissions: ADMINS },
  { path: '/console/api-tokens', text: 'API tokens', permissions: ADMINS },
];

/** The files that pages load. */
export type PageAssets = Assets<'console.css' | 'htmx.js' | 'console.js' | 'mark.svg'>;

/** Navigation of the signed-in person. */
export interface Frame extends SignedIn {
  /** Name of the workspace: API tokens of two workspaces may have the same name. */
  workspace: string;
  /** URL of the request, with its query. */
  url: string;
  breadcrumbs: readonly Breadcrumb[];
}

/** The script of the console listens before htmx starts, which sends the first request of some pages at once. */
export function document(
  assets: PageAssets,
  { title, main, status = 200 }: FramedContent,
  frame: Frame | null,
): Html {
  const place = frame === null ? '' : ` · ${isolated(frame.workspace)}, ${frame.caller.environment}`;
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="htmx-config" content='{"includeIndicatorCSS":false,"history":"reload"}'>
<title>${status >= 400 ? 'Error: ' : ''}${isolated(title)}${place} · User Group Service</title>
<link rel="icon" href="${assets.url('mark.svg')}" type="image/svg+xml">
<link rel="stylesheet" href="${assets.url('console.css')}">
<script defer src="${assets.url('console.js')}"></script>
<script defer src="${assets.url('htmx.js')}"></script>
</head>
<body class="${frame?.caller.environment === 'Testing' ? 'testing' : ''}">
<a class="skip" href="#main">Skip to content</a>
${frame === null ? '' : header(frame)}
<main id="main" tabindex="-1">
${trail(frame?.breadcrumbs ?? [])}
${main}
</main>
</body>
</html>
`;
}

/**
 * Small screens show the navigation when its button is pressed. Scripts compare the place with that of a
 * response, which no browser has translated.
 */
function header({ url, caller, session, workspace }: Frame): Html {
  const links = navigation.filter(({ permissions }) => isPermitted(caller, permissions));
  return html`<header>
<a class="home" href="/console"><span class="mark"></span><span class="product">User Group Service</span></a>
<nav id="navigation" aria-label="Main" popover>${links.map(
    (each) =>
      html`<a href="${each.path}" ${isCurrent(url, each.path) ? html`aria-current="page"` : ''}>${each.text}</a>`,
  )}</nav>
<p class="place" translate="no" title="Workspace ${workspace}"><span class="workspace">${workspace}</span> <span class="environment">${caller.environment}</span></p>
${account({ caller, session })}
<button type="button" class="menu" popovertarget="navigation"><span class="hidden">Menu</span></button>
</header>`;
}

function account({ caller, session }: SignedIn): Html {
  const number = `number ${caller.apiTokenId}`;
  const name = caller.name ?? `API token ${number}`;
  return html`<button type="button" class="who" popovertarget="account"><span class="name">${name}</span></button>
<div id="account" popover><p>Signed in with the API token <strong>${bdi(name)}</strong>, ${number}: ${caller.permission}.</p>
<div class="actions">${buttonTo('/console/sessions', 'Switch')} ${actionForm(session, '/console/sign-out', submit('Sign out', 'plain'))}</div></div>`;
}

function trail(breadcrumbs: readonly Breadcrumb[]): Html {
  if (breadcrumbs.length === 0) return NO_HTML;
  const links = breadcrumbs.map(({ path, text }) => html`<li>${idLink(path, text)}</li>`);
  return html`<nav class="trail" aria-label="Breadcrumbs"><ol>${links}</ol></nav>`;
}

/** Compares the path of the overview exactly: it is a prefix of all others. */
function isCurrent(url: string, section: string): boolean {
  return section === '/console' ? /^\/console(?:\?|$)/.test(url) : url.startsWith(section);
}
