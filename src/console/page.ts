// Definition of a page or of an action of the console.

import type { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Permission } from '../domain/api-token.ts';
import { isUnavailable } from '../http/response/problem.ts';
import type { FramedContent } from '../http/response/problem-page.ts';
import type { Context } from '../operations/context.ts';
import type { EnvironmentConfig } from '../operations/document/environment-config.ts';
import type { EnvironmentFigures } from '../operations/figures/environment-figures.ts';
import type { Problem } from '../problem.ts';
import type { Access } from '../store/admission.ts';
import type { Form } from './form/form.ts';
import type { Html } from './markup/html.ts';
import type { SignedIn } from './session/session.ts';

export interface PageCall extends SignedIn {
  /** Its operations record their changes as made in the console. */
  context: Context;
  query: URLSearchParams;
  /** Empty unless the method is POST. */
  form: Form;
  request: FastifyRequest;
  reply: FastifyReply;
  /** Directory of the sample files; null if there can be none. */
  demoDirectory: string | null;
  figures: EnvironmentFigures;
}

export async function environmentConfig({ context, caller }: PageCall): Promise<EnvironmentConfig> {
  return context.configs.of(context.store, caller);
}

/** A page begins with its heading, and the notice of the last action. */
export interface View extends FramedContent {
  /** The title if absent; null if the page has its own. */
  heading?: string | Html | null;
  /** Links and forms beside the heading. */
  actions?: Html;
}

/** Console path to open after an action. */
export interface Redirect {
  location: string;
  /** Says what was done, on the page there. */
  notice?: string;
}

/** A file that the browser stores, sent as fast as the browser reads it. */
export interface Download {
  fileName: string;
  contentType: string;
  content: Readable;
}

export interface Page {
  method: 'GET' | 'POST';
  /** Relative to /console. */
  path: string;
  permissions: readonly Permission[];
  /** Completes the message for a person without permission: "may not …". */
  purpose: string;
  /** `read` for GET and `write` for POST if absent. */
  access?: Access;
  handle(call: PageCall): Promise<View | Redirect | Download>;
  /** Shows the form again, with what was typed, if an action is rejected. */
  onRejection?(call: PageCall, problem: Problem): Promise<View>;
}

export function accessOf({ method, access = method === 'GET' ? 'read' : 'write' }: Page): Access {
  return access;
}

/** Permissions to read. */
export const READERS = ['read-write', 'read-only'] as const;
/** Permissions to change user groups. */
export const WRITERS = ['read-write'] as const;
/** Permissions to configure. */
export const ADMINS = ['admin'] as const;

/**
 * Returns a part of a page that requires lists or counts. These are slowed down under load: then returns
 * null, and the page is shown without the part.
 */
export async function unlessBusy<Part>(part: Promise<Part>): Promise<Part | null> {
  try {
    return await part;
  } catch (error) {
    if (isUnavailable(error)) return null;
    throw error;
  }
}
