// The paths that need no API token: for supervisors and load balancers, and for whoever reads about the API.

import type { OperationDescription } from './operations.ts';

const page = {
  mediaType: 'text/html',
  schema: 'Page',
  headers: ['Content-Security-Policy', 'X-Content-Type-Options', 'Referrer-Policy'],
} as const;

/** By path. All take GET and HEAD. */
export const serviceDescriptions = {
  '/healthz': {
    operationId: 'checkAlive',
    tag: 'Service',
    summary: 'Check that the process lives',
    description: 'For a supervisor: a process that does not answer is to be started anew.',
    answers: {
      200: {
        description: 'It is alive.',
        schema: 'Health',
        examples: { alive: { summary: 'Alive', value: { success: 1, status: 'alive' } } },
      },
    },
  },
  '/readyz': {
    operationId: 'checkReady',
    tag: 'Service',
    summary: 'Check that the process can serve',
    description:
      'For a load balancer: the database answers, takes writes, and the process is not shutting down.',
    answers: {
      200: {
        description: 'It can serve.',
        schema: 'Health',
        examples: { ready: { summary: 'Ready', value: { success: 1, status: 'ready' } } },
      },
    },
    problems: { database_unavailable: 'The database does not answer in time.' },
  },
  '/openapi.json': {
    operationId: 'readOpenApi',
    tag: 'Service',
    summary: 'Read the OpenAPI document',
    description: 'OpenAPI 3.1, for tools.',
    answers: { 200: { description: 'The description of the API.', schema: 'OpenApi' } },
  },
  '/docs': {
    operationId: 'readDocumentation',
    tag: 'Service',
    summary: 'Read the documentation',
    description: 'HTML without a script; it loads nothing.',
    answers: { 200: { description: 'The documentation of the API.', ...page } },
  },
  '/errors': {
    operationId: 'readErrors',
    tag: 'Service',
    summary: 'Read about the errors',
    description: 'HTML without a script; the `type` of an error points to its place here.',
    answers: { 200: { description: 'The codes: what each means and what to do about it.', ...page } },
  },
} as const satisfies Record<string, OperationDescription & { operationId: string }>;
