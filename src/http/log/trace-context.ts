// W3C Trace Context: the trace that a caller's request belongs to.

import type { IncomingHttpHeaders } from 'node:http';

/** A version, a trace id and a parent id that are not zero, and flags. Versions after 00 may append fields. */
const TRACEPARENT = /^(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(-.*)?$/;

/** Returns the trace id of a valid `traceparent`; undefined if there is none. */
export function parseTraceId({ traceparent }: IncomingHttpHeaders): string | undefined {
  if (typeof traceparent !== 'string') return undefined;
  const [, version, traceId, more] = TRACEPARENT.exec(traceparent) ?? [];
  return version === '00' && more !== undefined ? undefined : traceId;
}
