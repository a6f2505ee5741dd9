// A problem as a page, for people who use the console.

import { hash } from 'node:crypto';
import type { FastifyReply } from 'fastify';
import { Html, html } from './html.ts';
import { pageHeaders, pageHeadersWith } from './page-headers.ts';

interface ProblemTexts {
  status: number;
  title: string;
  detail: string;
  /** Seconds to wait, shown in the page because browsers do not show the header. */
  retryAfter: string | undefined;
}

const STYLE =
  ':root{color-scheme:light dark;background:Canvas;color:CanvasText}' +
  'body{max-width:42rem;margin:4rem auto;padding:0 1.25rem;font:16px/1.5 system-ui,sans-serif;overflow-wrap:anywhere}' +
  'h1{font-size:1.6rem;line-height:1.25}';

/** The content of a page within its frame. */
export interface FramedContent {
  title: string;
  main: Html;
  /** 200 if absent. */
  status?: number;
}

type Frame = (content: FramedContent) => Html;

declare module 'fastify' {
  interface FastifyRequest {
    /** Renders content in the frame of the signed-in person; null until the person is known. */
    frame: Frame | null;
    /** Restores what a person had typed into the form of the request; null if nothing was kept. */
    keptForm: Html | null;
  }
  interface FastifyInstance {
    /** Returns the frame of a request that has none yet, without a query; null if it is not known. */
    findFrame: (request: FastifyRequest) => Frame | null;
  }
}

const problemPageHeaders = pageHeadersWith(`'sha256-${hash('sha256', STYLE, 'base64')}'`);

/** Sends the problem as a page. Without a frame it loads nothing, so that it can be shown whatever has failed. */
export function sendProblemPage(reply: FastifyReply, texts: ProblemTexts): FastifyReply {
  const { request } = reply;
  const frame = request.frame ?? request.server.findFrame(request);
  const { status, title, detail, retryAfter } = texts;
  const wait = retryAfter === undefined ? '' : html`<p>Try again in ${retryAfter} s.</p>`;
  const main = html`<h1>${title}</h1><p>${detail}</p>${wait}${request.keptForm ?? ''}<p class="hint">Request ${request.id}</p>${BACK}`;
  const page = frame ? frame({ title, status, main }) : withoutFrame(title, main);
  return reply.headers(frame ? pageHeaders : problemPageHeaders).send(page.markup);
}

const BACK = html`<p><a href="/console">Back to the overview</a></p>`;

function withoutFrame(title: string, main: Html): Html {
  return html`<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>${title} · User Group Service</title><link rel="icon" href="data:,"><style>${new Html(STYLE)}</style></head>
<body><main>${main}</main></body>
</html>
`;
}
