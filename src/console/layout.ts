// The document around the content of every page.

import { type Caller, isPermitted, type Permission } from '../domain/api-token.ts';
import { actionForm, submit } from './fields.ts';
import { type Html, html } from './html.ts';
import { ADMINS, READERS, type View } from './page.ts';
import type { Session } from './session.ts';

const navigation: readonly { path: string; text: string; permissions: readonly Permission[] }[] = [
  { path: '/console/user-groups', text: 'User groups', permissions: READERS },
  { path: '/console/events', text: 'Events', permissions: READERS },
  { path: '/console/catalogue', text: 'Catalogue', permissions: READERS },
  { path: '/console/integrations', text: 'Integrations', permissions: ADMINS },
  { path: '/console/webhooks', text: 'Webhooks', permissions: ADMINS },
  { path: '/console/api-tokens', text: 'API tokens', permissions: ADMINS },
];

/** URLs of the files that pages load. */
export interface PageAssets {
  css: string;
  htmx: string;
  script: string;
}

export interface SignedIn {
  caller: Caller;
  /** Its name: API tokens of two workspaces may have the same name. */
  workspace: string;
  session: Session;
}

/** `path` is that of the request; `signedIn` is null on the page to sign in. */
export function document(
  assets: PageAssets,
  path: string,
  { title, main }: View,
  signedIn: SignedIn | null,
): Html {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="htmx-config" content='{"includeIndicatorCSS":false,"history":"reload"}'>
<title>${title}${signedIn === null ? '' : ` · ${signedIn.workspace}, ${signedIn.caller.environment}`} · User Group Service</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${assets.css}">
<script defer src="${assets.htmx}"></script>
<script defer src="${assets.script}"></script>
</head>
<body class="${signedIn?.caller.environment === 'Testing' ? 'testing' : ''}">
<a class="skip" href="#main">Skip to content</a>
${signedIn === null ? '' : header(path, signedIn)}
<main id="main" tabindex="-1">
${main}
</main>
</body>
</html>
`;
}

function header(path: string, { caller, workspace, session }: SignedIn): Html {
  const links = navigation.filter(({ permissions }) => isPermitted(caller, permissions));
  return html`<header>
<a class="home" href="/console/user-groups">User Group Service</a>
<nav aria-label="Main">${links.map(
    (each) =>
      html`<a href="${each.path}" ${path.startsWith(each.path) ? html`aria-current="page"` : ''}>${each.text}</a>`,
  )}</nav>
<div class="who"><span class="workspace">${workspace}</span> <span class="environment">${caller.environment}</span>
<span>${caller.name ?? `API token ${caller.apiTokenId}`} (${caller.permission})</span>
<a href="/console/sessions">Switch</a>
${actionForm(session, '/console/sign-out', submit('Sign out', 'plain'))}</div>
</header>`;
}
