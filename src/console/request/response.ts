// Sends pages, redirects and files to the browser.

import { finished } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { CONNECTION_ENDED } from '../../http/request/body.ts';
import { loadWholePage, pageHeaders } from '../../http/response/page-headers.ts';
import { type Html, headingWith, html, NO_HTML } from '../markup/html.ts';
import { document, type PageAssets } from '../markup/layout.ts';
import type { Download, View } from '../page.ts';
import { mayWithholdSession } from './browser.ts';

/** Renders the page in the frame of the request; without a session, in one without navigation. */
export function sendView(
  { frame }: FastifyRequest,
  reply: FastifyReply,
  assets: PageAssets,
  { title, heading = title, actions = NO_HTML, main, status = 200 }: View,
  notice = NO_HTML,
): string {
  reply.code(status).headers(pageHeaders);
  if (status >= 400) loadWholePage(reply);
  const start = heading === null ? NO_HTML : headingWith(heading, actions);
  const whole = html`${start}
${notice}
${main}`;
  const content = { title, status, main: whole };
  const page = frame?.(content) ?? document(assets, content, null);
  return page.markup;
}

export function sendDownload(
  reply: FastifyReply,
  { fileName, contentType, content }: Download,
): FastifyReply {
  // Fastify ends the content without a reason, which would be reported as a bug.
  finished(reply.raw, (error) => error && content.destroy(CONNECTION_ENDED));
  return reply
    .headers(pageHeaders)
    .headers({ 'content-type': contentType, 'content-disposition': `attachment; filename="${fileName}"` })
    .send(content);
}

export function redirect(reply: FastifyReply, location: string): FastifyReply {
  return reply.code(303).headers(pageHeaders).header('location', location).send();
}

/**
 * Redirects to the sign-in page. A browser that follows a link from another site does not send its session,
 * so a page is shown that reloads to the sign-in page, which leads back if there is a session.
 */
export function askToSignIn(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const path = `/console/sign-in?next=${encodeURIComponent(request.url)}`;
  // The live search would follow a redirect, and look for its results in the sign-in page.
  if (request.headers['hx-request'] === 'true')
    return reply.code(204).headers(pageHeaders).header('hx-redirect', path).send();
  if (request.method === 'GET' && mayWithholdSession(request))
    return reply.headers(pageHeaders).send(reloadPage(path).markup);
  return redirect(reply, path);
}

function reloadPage(path: string): Html {
  return html`<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta http-equiv="refresh" content="0; url=${path}"><title>User Group Service</title></head>
<body><main><p><a href="${path}">Continue</a></p></main></body>
</html>
`;
}
