// A request for a page and its response: the steps that serve.ts and interrupted-form.ts share.

import type { FastifyReply, FastifyRequest } from 'fastify';
import { type EndpointOptions, requestContext } from '../../http/endpoint.ts';
import { freeBytes } from '../../http/free-bytes.ts';
import type { PublicLimit } from '../../http/limits/public-limit.ts';
import { announcedBytes, discardBody, hasSmallBody, readBody } from '../../http/request/body.ts';
import { compressedFor } from '../../http/response/compressed.ts';
import type { EnvironmentFigures } from '../../operations/figures/environment-figures.ts';
import { permit } from '../../operations/refusals.ts';
import { Form, MAX_FORM_BYTES } from '../form/form.ts';
import type { PageAssets } from '../markup/layout.ts';
import { accessOf, type Download, type Page, type PageCall, type Redirect, type View } from '../page.ts';
import type { SignedIn } from '../session/session.ts';
import type { KnownFrames } from './known-frames.ts';
import { shownNotice, storeNotice } from './notice.ts';
import { redirect, sendDownload, sendView } from './response.ts';

export interface ConsoleOptions extends EndpointOptions {
  publicLimit: PublicLimit | null;
  demoDirectory: string | null;
  figures: EnvironmentFigures;
  frames: KnownFrames;
  assets: () => Promise<PageAssets>;
}

export interface Exchange extends Pick<PageCall, 'query' | 'request' | 'reply'> {
  options: ConsoleOptions;
  page: Page;
  /** When the deadlines of the page start: when the request arrived, or its form if that took longer. */
  startedAt: number;
  /** The form, once it is being received. */
  received?: Promise<Form>;
}

export type Response = FastifyReply | string | Buffer;

export async function tracked<Result>(
  { context, running }: ConsoleOptions,
  work: () => Promise<Result>,
): Promise<Result> {
  running.begin();
  try {
    return await work();
  } catch (error) {
    throw context.cpu.asOverloaded(error);
  } finally {
    running.end();
  }
}

/**
 * Throws `body_too_large`, and `overloaded` if too many large forms are being sent or wait for the CPU. Small forms do not
 * count, as in the API, so one caller cannot prevent others from signing in.
 */
export async function receiveForm(
  { bodies, context }: ConsoleOptions,
  request: FastifyRequest,
  tenant: number,
  maxBytes = MAX_FORM_BYTES,
): Promise<Form> {
  const { raw } = request;
  if (hasSmallBody(raw)) return Form.read(raw, await readBody(raw), maxBytes);
  using reservation = bodies.open(tenant);
  try {
    reservation.grow(announcedBytes(raw, maxBytes));
    const bytes = await readBody(raw, reservation, maxBytes);
    await requestContext(context, request, tenant).cpu.turn(bytes.length);
    const form = Form.read(raw, bytes, maxBytes);
    freeBytes(bytes);
    return form;
  } catch (problem) {
    discardBody(raw);
    throw problem;
  }
}

export function admit({ options: { context, unread }, page }: Exchange, { caller }: SignedIn): void {
  context.activity.seen(caller.workspaceId);
  unread.admit(caller.workspaceId, accessOf(page));
  permit(caller, page.permissions, page.purpose);
}

export function preparePageCall(
  { options, query, request, reply, startedAt }: Exchange,
  { caller, session }: SignedIn,
  form: Form,
): PageCall {
  const bounded = requestContext(options.context, request, caller.workspaceId, startedAt);
  const context = { ...bounded, origin: { via: 'console', requestId: request.id } as const };
  const { demoDirectory, figures } = options;
  return { context, caller, session, query, form, request, reply, demoDirectory, figures };
}

export async function sendResult(
  { options, request, reply }: Exchange,
  call: PageCall,
  result: View | Redirect | Download,
): Promise<Response> {
  if ('location' in result) {
    if (result.notice !== undefined) storeNotice(call, result.location, result.notice);
    return redirect(reply, result.location);
  }
  if ('content' in result) return sendDownload(reply, result);
  const text = sendView(request, reply, await options.assets(), result, shownNotice(call));
  const { workspaceId } = call.caller;
  if (!call.context.store.hasWritten) options.unread.admitResponse(workspaceId, text);
  // Secrets are only in responses to forms, which other sites cannot send, and the token of a form is masked.
  const content = await compressedFor(reply, text);
  options.unread.count(workspaceId, reply.raw, content);
  return content;
}
