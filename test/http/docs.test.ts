// The API documentation: /openapi.json for tools, /docs and /errors for people.

import assert from 'node:assert/strict';
import { registerHooks } from 'node:module';
import { before, describe, it } from 'node:test';
import { openApi } from '../../scripts/openapi/document.ts';
import { configFileSchema } from '../../src/domain/config/config.ts';
import { loadAssets } from '../../src/http/docs/assets.ts';
import { problemDescriptions } from '../../src/http/docs/error-docs.ts';
import { problems } from '../../src/http/response/problem.ts';
import * as surface from '../../src/http/routes.ts';
import type { ProblemCode } from '../../src/problem.ts';
import { RawConnection } from '../support/connection/raw-connection.ts';
import { sqlite } from '../support/database.ts';
import { assertProblem } from '../support/problem.ts';
import { eventually, Folder, PROGRAM, Service } from '../support/process.ts';
import { TestService } from '../support/service.ts';

const LOADED_PATHS = ['/openapi.json', '/docs', '/errors'];
const PATHS = [...LOADED_PATHS, '/config.schema.json'];
const PAGES = ['/docs', '/errors'];
/** File descriptor limit, which the process reaches. */
const MAX_FILES = 80;
const codes = Object.keys(problems) as ProblemCode[];
const document = openApi(surface);

/** Returns the visible text of the page: without tags, and with numeric character references decoded. */
function textOf(html: string): string {
  return html.replace(/<[^>]*>/g, '').replace(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code)));
}

function assetsOf(html: string): string[] {
  return Array.from(html.matchAll(/ (?:src|href)="(\/docs\/assets\/[^"]+)"/g), ([, path]) => path!);
}

function typeOf(asset: string): string {
  return `text/${asset.endsWith('.css') ? 'css' : 'javascript'}; charset=utf-8`;
}

function idsOf(html: string): string[] {
  return Array.from(html.matchAll(/ id="([^"]*)"/g), ([, id]) => id!);
}

describe('The documentation', () => {
  const service = TestService.of(sqlite);
  const pages = new Map<string, string>();
  before(async () => {
    for (const path of PAGES) pages.set(path, (await read(path)).text);
  });

  const read = (path: string, method = 'GET', headers = {}) =>
    service.call(method, path, undefined, { token: null, headers });

  it('reads Accept-Encoding regardless of case and of spaces before a comma', async () => {
    const encodingFor = async (accepted: string) =>
      (await read('/docs', 'GET', { 'accept-encoding': accepted })).headers['content-encoding'];
    assert.equal(await encodingFor('GZIP'), 'gzip');
    assert.equal(await encodingFor('gzip;q=0.5 , identity'), 'gzip');
    assert.equal(await encodingFor('gzip;q=0 , identity'), undefined);
    assert.equal(await encodingFor('gzip; Q=0, identity'), undefined);
  });

  it('compresses the API description too', async () => {
    const { status, headers } = await read('/openapi.json', 'GET', { 'accept-encoding': 'gzip' });
    assert.deepEqual([status, headers['content-encoding']], [200, 'gzip']);
  });

  for (const path of PATHS) {
    it(`is served without an API token, for GET and HEAD only: ${path}`, async () => {
      const got = await read(path);
      const head = await read(path, 'HEAD');
      assert.deepEqual([got.status, head.status, head.text], [200, 200, '']);
      assert.notEqual(got.headers['x-request-id'], head.headers['x-request-id']);
      for (const { headers } of [got, head]) {
        assert.equal(headers['cache-control'], 'no-store');
        assert.equal(headers['content-length'], String(Buffer.byteLength(got.text)));
        assert.equal(headers['content-type'], got.headers['content-type']);
        assert.equal(headers['content-security-policy'], got.headers['content-security-policy']);
      }
      for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
        const rejected = await read(path, method);
        assertProblem(rejected, 'method_not_allowed');
        assert.equal(rejected.headers.allow, 'GET, HEAD');
      }
    });
  }

  it('is served again as soon as its files can be opened', async () => {
    using folder = new Folder();
    const script = `ulimit -n ${MAX_FILES}; exec "$0" "$@"`;
    const args = ['-c', script, process.execPath, PROGRAM, 'serve'];
    // One thread: several close connections independently, so descriptors would be free for a moment.
    await using program = await Service.start(folder, args, { command: 'sh', env: { UGS_THREADS: '1' } });
    const connection = await RawConnection.open(program.url);
    const statusesOf = async (paths: readonly string[]): Promise<number[]> => {
      const { length } = connection.exchange.answers;
      for (const path of paths) connection.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`);
      const all = await eventually('a response to each', () => {
        const { answers } = connection.exchange;
        return answers.length === length + paths.length && answers;
      });
      return all.slice(length).map(({ status }) => status);
    };
    assert.deepEqual(await statusesOf(['/healthz']), [200]);
    const others = await Promise.all(
      Array.from({ length: MAX_FILES }, () => RawConnection.open(program.url)),
    );
    const closed = new Set<RawConnection>();
    for (const other of others) {
      other.ended.then(() => closed.add(other));
      other.write('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n');
    }
    await eventually('each connection accepted or closed', () =>
      others.every((other) => closed.has(other) || other.exchange.answers.length > 0),
    );
    assert.deepEqual(await statusesOf(LOADED_PATHS), [500, 500, 500]);
    for (const other of others) other.leave();
    await eventually('the documentation', async () =>
      (await statusesOf(LOADED_PATHS)).every((status) => status === 200),
    );
    connection.leave();
  });

  it('needs no development dependency of a clone, except for what Swagger UI renders', async (test) => {
    const hooks = registerHooks({
      resolve(specifier, context, next) {
        return next(specifier.replace(/^swagger-ui-dist\b/, 'not-installed'), context);
      },
    });
    test.after(() => hooks.deregister());
    const assets = await loadAssets();
    assert.match(assets.url('page.css'), /page\.css$/);
  });

  it('includes the JSON Schema of configuration files at /config.schema.json', async () => {
    const sent = JSON.parse(JSON.stringify(configFileSchema));
    assert.deepEqual((await read('/config.schema.json')).json, sent);
  });

  it('includes the API description at /openapi.json', async () => {
    assert.deepEqual((await read('/openapi.json')).json, JSON.parse(JSON.stringify(document)));
  });

  for (const code of codes) {
    it(`explains the error at the anchor that its type links to: ${code}`, () => {
      const [, section = ''] = new RegExp(`<h2 id="${code}">(.*?)(?=<h2|</main>)`, 's').exec(
        pages.get('/errors')!,
      )!;
      const text = textOf(section);
      const { meaning, remedy } = problemDescriptions[code];
      for (const expected of [String(problems[code].status), problems[code].title, meaning, remedy]) {
        assert.ok(text.includes(expected.replaceAll('`', '')), expected);
      }
    });
  }

  for (const path of PAGES) {
    it(`allows no inline content and no other origin: ${path}`, async () => {
      const { headers } = await read(path);
      assert.equal(
        headers['content-security-policy'],
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
          "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
      );
      const html = pages.get(path)!;
      assert.doesNotMatch(html, /<style|<script>|<iframe|<form|\son\w+=|\sstyle=|javascript:|["(]\w*:?\/\//i);
      assert.ok(assetsOf(html).length > 0);
    });

    it(`loads cacheable assets, compressed if the browser accepts gzip: ${path}`, async () => {
      for (const asset of assetsOf(pages.get(path)!)) {
        const plain = await read(asset);
        assert.equal(plain.status, 200, asset);
        assert.equal(plain.headers['content-type'], typeOf(asset));
        assert.equal(plain.headers['cache-control'], 'public, max-age=31536000, immutable');
        assert.equal(plain.headers.vary, 'accept-encoding');
        assert.equal(plain.headers['content-encoding'], undefined);
        const gzipped = await fetch(service.url + asset, { headers: { 'accept-encoding': 'br, gzip' } });
        assert.equal(gzipped.headers.get('content-encoding'), 'gzip');
        assert.equal(await gzipped.text(), plain.text);
        assert.ok(Number(gzipped.headers.get('content-length')) < Buffer.byteLength(plain.text));
        const refusing = await read(asset, 'GET', { 'accept-encoding': 'gzip;q=0' });
        assert.equal(refusing.headers['content-encoding'], undefined);
      }
    });

    it(`has no broken links: ${path}`, () => {
      const html = pages.get(path)!;
      const hrefs = Array.from(html.matchAll(/<a [^>]*href="([^"]*)"/g), ([, href]) => href!);
      assert.ok(hrefs.length >= 3);
      for (const href of hrefs) {
        const [page, fragment] = (href.startsWith('#') ? path + href : href).split('#') as [string, string?];
        assert.ok(PATHS.includes(page), href);
        if (fragment !== undefined) assert.ok(idsOf(pages.get(page)!).includes(fragment), href);
      }
    });

    it(`has unique anchors: ${path}`, () => {
      const ids = idsOf(pages.get(path)!);
      assert.equal(new Set(ids).size, ids.length);
    });
  }

  it('returns 404 for an unknown asset', async () => {
    const [asset = ''] = assetsOf(pages.get('/docs')!);
    const unknown = [asset.replace(/[^/]+$/, 'package.json'), asset.replace(/[0-9a-f]{16}/, '0'.repeat(16))];
    for (const path of [...unknown, '/docs/assets/..%2F..%2Fpackage.json/page.css', '/docs/assets']) {
      assertProblem(await read(path), 'not_found');
    }
  });

  it('serves its assets for GET and HEAD only', async () => {
    const [asset = ''] = assetsOf(pages.get('/docs')!);
    const head = await read(asset, 'HEAD');
    assert.deepEqual([head.status, head.text], [200, '']);
    assertProblem(await read(asset, 'POST'), 'method_not_allowed');
  });
});
