// Checks that the operation declares every problem that a test receives: clients are generated from the declarations.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import type { TestResponse } from '../http.ts';

/** The part of the API description that declares problems. */
interface Document {
  paths: Record<string, Record<string, { responses: Record<string, { $ref?: string }> }>>;
  components: { responses: Record<string, { content: Record<string, { examples: object }> }> };
}

interface Declaration {
  /** Matches the method and path of a request. */
  request: RegExp;
  codes: ReadonlySet<string>;
}

const OTHER_PATH = /^\S+ \/(?:api|v1|docs|errors|console|issuers)(?:\/|$)/;

let declarations: readonly Declaration[] | undefined;

/** Fails if the response is a problem that its operation does not declare. `request`: method and path. */
export function assertDeclared(request: string, { status, json }: TestResponse): void {
  if (status < 400 || json?.code === undefined) return;
  declarations ??= readDeclarations();
  const [withoutQuery] = request.split('?');
  const operation = declarations.find((each) => each.request.test(withoutQuery!));
  // The page of a site that passes the response of forward authentication on.
  if (operation === undefined) return;
  assert.ok(operation.codes.has(json.code), `docs/openapi.json lacks ${json.code} for ${withoutQuery}`);
}

function readDeclarations(): Declaration[] {
  const file = new URL('../../../docs/openapi.json', import.meta.url);
  const { paths, components }: Document = JSON.parse(readFileSync(file, 'utf8'));
  const declared = Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, { responses }]) => {
      const names = Object.values(responses).flatMap(({ $ref }) => $ref?.split('/').at(-1) ?? []);
      const content = names.flatMap((name) => Object.values(components.responses[name]!.content));
      const pattern = path.replaceAll('.', '\\.').replace(/\{\w+\}/g, '[^/]+');
      const request =
        path === '/v1/forward-auth'
          ? `[A-Z]+ ${pattern}(?:/.*)?`
          : `${method.toUpperCase()} ${pattern}${path === '/api/user' ? '/?' : ''}`;
      return {
        request: new RegExp(`^${request}$`),
        codes: new Set(content.flatMap(({ examples }) => Object.keys(examples))),
      };
    }),
  );
  // Other paths of the service are public, like the API description.
  const { codes } = declared.find(({ request }) => request.test('GET /openapi.json'))!;
  return [...declared, { request: OTHER_PATH, codes: new Set([...codes, 'not_found']) }];
}
