// The headers of answers.

import type { HeaderObject } from './object.ts';

export const answerHeaders = {
  'X-Request-Id': {
    description: 'Finds the request in the log of the service.',
    required: true,
    schema: { type: 'string', pattern: '^[\\w-]+$' },
    example: 'FsX-pj4u-6',
  },
  'Cache-Control': {
    description: 'No answer is stored by a cache.',
    required: true,
    schema: { type: 'string', const: 'no-store' },
    example: 'no-store',
  },
  ETag: {
    description:
      "Names the user group's life and version. A change gives a new one, a call that changes nothing keeps it, and " +
      'a user group that is deleted and made again never repeats one.',
    required: true,
    schema: { type: 'string', pattern: '^"[!#-~]+"$' },
    example: '"12-3"',
  },
  'User-Group-Drift': {
    description:
      'The sent fields that differ from what is stored, where there are such. Nothing was changed: an update does it.',
    schema: { type: 'string', pattern: '^(name|mapping|properties)(, (mapping|properties)){0,2}$' },
    example: 'name, properties',
  },
  'WWW-Authenticate': {
    description: 'How to authenticate.',
    required: true,
    schema: { type: 'string', pattern: '^Token ' },
    example: 'Token realm="user-group-service"',
  },
  'Retry-After': {
    description: 'Seconds to wait before the same call is sent again.',
    required: true,
    schema: { type: 'integer', minimum: 1 },
    example: 1,
  },
  Allow: {
    description: 'The methods that the path takes.',
    required: true,
    schema: { type: 'string', pattern: '^[A-Z]+(, [A-Z]+)*$' },
    example: 'GET, PUT, POST',
  },
  'Content-Security-Policy': {
    description: 'A page may show its own style, and load and run nothing.',
    required: true,
    schema: { type: 'string', pattern: "^default-src 'none'; " },
    example: "default-src 'none'; style-src 'sha256-…'",
  },
  'X-Content-Type-Options': {
    description: 'A browser takes the page for what it is declared to be.',
    required: true,
    schema: { type: 'string', const: 'nosniff' },
    example: 'nosniff',
  },
  'Referrer-Policy': {
    description: 'A link that is followed does not tell where it was.',
    required: true,
    schema: { type: 'string', const: 'no-referrer' },
    example: 'no-referrer',
  },
} as const satisfies Record<string, HeaderObject>;

export type AnswerHeader = keyof typeof answerHeaders;

/** The headers of every answer, and those of the names. */
export function headerReferences(names: readonly AnswerHeader[] = []): Record<string, { $ref: string }> {
  const all: AnswerHeader[] = ['X-Request-Id', 'Cache-Control', ...names];
  return Object.fromEntries(all.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}
