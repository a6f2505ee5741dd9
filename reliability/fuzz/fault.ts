// Faults of requests that no schema describes: in the bytes, the headers or the query. Each names the status
// with which the service rejects it.

import { limits } from '../../src/domain/field.ts';
import type { DescribedOperation } from '../../test/support/api-description/api-description.ts';
import type { TestRequest } from '../../test/support/http.ts';

interface FaultType {
  status: number;
  /** Returns the request with the fault; its body is JSON text if it has one. */
  apply(request: TestRequest): TestRequest;
}

const withBody = (change: (text: string) => string | Buffer | undefined) => ({
  status: 400,
  apply: (request: TestRequest) => ({ ...request, body: change(request.body as string) }),
});

/** Inserts a member at the start of the object. */
const withMember = (member: string) =>
  withBody((text) => text.replace('{', `{${member}${/\{\s*\}/.test(text) ? '' : ','}`));

const withHeader = (status: number, name: string, value: string | string[]) => ({
  status,
  apply: ({ headers, ...request }: TestRequest) => ({ ...request, headers: { ...headers, [name]: value } }),
});

const withParameter = (parameter: string) => ({
  status: 400,
  apply: ({ path, ...request }: TestRequest) => ({
    ...request,
    path: `${path}${path!.includes('?') ? '&' : '?'}${parameter}`,
  }),
});

const everywhere = {
  'a foreign origin': withHeader(403, 'origin', 'https://elsewhere.example'),
  'two origins': withHeader(400, 'origin', ['http://one.example', 'http://two.example']),
} satisfies Record<string, FaultType>;

const withToken = {
  'an unknown parameter': withParameter('colour=red'),
  'a parameter that is not UTF-8': withParameter('limit=%ff'),
  'two API tokens': {
    status: 400,
    apply: ({ token, ...request }) => ({
      ...request,
      headers: { ...request.headers, authorization: [`Token ${token}`, `Token ${token}`] },
    }),
  },
} satisfies Record<string, FaultType>;

const ofRequiredBodies = {
  'no body': withBody(() => undefined),
  'an empty body': withBody(() => ''),
} satisfies Record<string, FaultType>;

const ofBodies = {
  'a body cut short': withBody((text) => text.trimEnd().slice(0, -1)),
  'a trailing comma': withBody((text) => text.replace(/\}\s*$/, ',}')),
  'text after the body': withBody((text) => `${text}{}`),
  'a byte order mark': withBody((text) => `\ufeff${text}`),
  'bytes that are not UTF-8': withBody((text) => Buffer.concat([Buffer.from(text), Buffer.from([0xff])])),
  'a duplicate key': withMember('"a":1,"a":1'),
  'a duplicate key, once with an escape': withMember('"a":1,"\\u0061":1'),
  'the key __proto__': withMember('"__proto__":1'),
  'the key __proto__ with an escape': withMember('"\\u005f_proto__":1'),
  'half a surrogate pair': withMember('"a":"\\ud800"'),
  'half a surrogate pair as a key': withMember('"\\udc00":1'),
  'too much nesting': withMember(
    `"a":${'['.repeat(limits.propertiesLevels + 1)}${']'.repeat(limits.propertiesLevels + 1)}`,
  ),
  'a body that is too large': { ...withBody((text) => text + ' '.repeat(limits.bodyBytes)), status: 413 },
  'another media type': withHeader(415, 'content-type', 'text/plain'),
  'a compressed body': withHeader(415, 'content-encoding', 'gzip'),
} satisfies Record<string, FaultType>;

const ofNoBodies = {
  'an unexpected body': withBody(() => '[]'),
  'an unexpected large body': { ...withBody(() => ' '.repeat(limits.bodyBytes + 1)), status: 413 },
} satisfies Record<string, FaultType>;

const ofVersions = {
  'a version without quotes': withHeader(400, 'if-match', 'unquoted'),
} satisfies Record<string, FaultType>;

const faults = {
  ...everywhere,
  ...withToken,
  ...ofRequiredBodies,
  ...ofBodies,
  ...ofNoBodies,
  ...ofVersions,
};

export type Fault = keyof typeof faults;

export function faultType(fault: Fault): FaultType {
  return faults[fault];
}

/** The faults that requests of the operation can have. */
export function faultsOf({ security, requestBody, parameters = [] }: DescribedOperation): Fault[] {
  const sets: Partial<Record<Fault, FaultType>>[] = [everywhere];
  if (security.length > 0) sets.push(withToken, requestBody === undefined ? ofNoBodies : ofBodies);
  if (requestBody?.required) sets.push(ofRequiredBodies);
  if (parameters.some(({ name }) => name === 'If-Match')) sets.push(ofVersions);
  return sets.flatMap((set) => Object.keys(set) as Fault[]);
}
