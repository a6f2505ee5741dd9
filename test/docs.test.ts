// What is read about the API: /openapi.json by tools, /docs and /errors by people.

import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { openApi } from '../src/http/openapi/document.ts';
import { problemDescriptions } from '../src/http/openapi/problem.ts';
import { operations } from '../src/http/routes.ts';
import { type ProblemCode, problems } from '../src/problem.ts';
import { ApiDescription, examplesOf } from './api-description.ts';
import { sqlite } from './database.ts';
import { assertProblem } from './problem.ts';
import { eventually, Folder, PROGRAM, Service } from './process.ts';
import { RawConnection } from './raw-connection.ts';
import { TestService } from './service.ts';

const PATHS = ['/openapi.json', '/docs', '/errors'];
const PAGES = ['/docs', '/errors'];
/** Of a process that is to have none left. */
const MAX_FILES = 80;
const codes = Object.keys(problems) as ProblemCode[];
const document = openApi(operations);
const description = new ApiDescription(document);

/** The page as it is read: without tags, the characters that are written as numbers put back. */
function textOf(html: string): string {
  return html
    .replace(/<style>.*?<\/style>|<[^>]*>/gs, '')
    .replace(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code)));
}

function idsOf(html: string): string[] {
  return Array.from(html.matchAll(/ id="([^"]*)"/g), ([, id]) => id!);
}

describe('The documentation', () => {
  let service: TestService;
  const pages = new Map<string, string>();
  before(async () => {
    service = await TestService.start(sqlite);
    for (const path of PAGES) pages.set(path, (await read(path)).text);
  });
  after(() => service.end());

  const read = (path: string, method = 'GET') => service.call(method, path, undefined, { token: null });

  for (const path of PATHS) {
    it(`is there without an API token, by GET and HEAD alone: ${path}`, async () => {
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
        const refused = await read(path, method);
        assertProblem(refused, 'method_not_allowed');
        assert.equal(refused.headers.allow, 'GET, HEAD');
      }
    });
  }

  it('is there once the files that it is made of can be opened again', async () => {
    using folder = new Folder();
    const script = `ulimit -n ${MAX_FILES}; exec "$0" "$@"`;
    const args = ['-c', script, process.execPath, PROGRAM, 'serve'];
    await using program = new Service(folder, args, { command: 'sh' });
    const [, url = ''] = await program.says(/"url":"(http:[^"]+)"/);
    const connection = await RawConnection.open(url);
    const statusesOf = async (paths: readonly string[]): Promise<number[]> => {
      const { length } = connection.exchange.answers;
      for (const path of paths) connection.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`);
      const all = await eventually('an answer to each', () => {
        const { answers } = connection.exchange;
        return answers.length === length + paths.length && answers;
      });
      return all.slice(length).map(({ status }) => status);
    };
    assert.deepEqual(await statusesOf(['/healthz']), [200]);
    const others = await Promise.all(Array.from({ length: MAX_FILES }, () => RawConnection.open(url)));
    // When this is answered, the others have been accepted, or could not be.
    assert.deepEqual(await statusesOf(['/healthz']), [200]);
    assert.deepEqual(await statusesOf(PATHS), [500, 500, 500]);
    for (const other of others) other.leave();
    await eventually('the documentation', async () =>
      (await statusesOf(PATHS)).every((status) => status === 200),
    );
    connection.leave();
  });

  it('is the description of the API at /openapi.json', async () => {
    assert.deepEqual((await read('/openapi.json')).json, JSON.parse(JSON.stringify(document)));
  });

  for (const {
    operationId,
    path,
    requestBody,
    parameters = [],
    summary,
    responses,
  } of description.operations) {
    it(`shows at /docs what is described: ${operationId}`, () => {
      const html = pages.get('/docs')!;
      const [, section = ''] = new RegExp(
        `<section class="entry" id="${operationId}">(.*?)</section>`,
        's',
      ).exec(html)!;
      const text = textOf(section);
      const examples = [requestBody, ...Object.values(responses)].flatMap((holder) =>
        holder === undefined || '$ref' in holder ? [] : Object.values(examplesOf(holder)),
      );
      assert.ok(text.includes(path) && text.includes(summary));
      for (const { name } of parameters) assert.ok(text.includes(name), name);
      for (const { value } of examples.filter((each) => !isRefusal(each.value))) {
        assert.ok(text.includes(JSON.stringify(value, null, 2)), JSON.stringify(value));
      }
    });
  }

  for (const code of codes) {
    it(`explains at /errors, where the type of the error points to: ${code}`, async () => {
      const [, section = ''] = new RegExp(`<section class="entry" id="${code}">(.*?)</section>`, 's').exec(
        pages.get('/errors')!,
      )!;
      const text = textOf(section);
      const example = /\{.*\}/s.exec(text)![0];
      description.assertValid('Problem', JSON.parse(example));
      const { type, status } = JSON.parse(example);
      assert.deepEqual([type, status], [`/errors#${code}`, problems[code].status]);
      const { meaning, remedy } = problemDescriptions[code];
      for (const words of [problems[code].title, meaning, remedy]) {
        assert.ok(text.includes(words.replaceAll('`', '')), words);
      }
    });
  }

  for (const path of PAGES) {
    it(`runs nothing and loads nothing but itself: ${path}`, async () => {
      const { headers } = await read(path);
      const html = pages.get(path)!;
      const style = /<style>(.*)<\/style>/s.exec(html)![1]!;
      assert.equal(
        headers['content-security-policy'],
        `default-src 'none'; style-src 'sha256-${hash('sha256', style, 'base64')}'; img-src data:; ` +
          "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
      );
      assert.doesNotMatch(html, /<script|<iframe|<img|<object|<form|\ssrc=|\son\w+=|\sstyle=|javascript:/i);
      assert.doesNotMatch(style, /@import|@font-face|url\(/);
      const links = Array.from(html.matchAll(/<link [^>]*>/g), ([link]) => link);
      assert.deepEqual(links, ['<link rel="icon" href="data:,">']);
    });

    it(`has links that lead to a place that there is: ${path}`, () => {
      const html = pages.get(path)!;
      const hrefs = Array.from(html.matchAll(/<a [^>]*href="([^"]*)"/g), ([, href]) => href!);
      assert.ok(hrefs.length > 20);
      for (const href of hrefs) {
        const [page, fragment] = (href.startsWith('#') ? path + href : href).split('#') as [string, string?];
        assert.ok(PATHS.includes(page), href);
        if (fragment !== undefined) assert.ok(idsOf(pages.get(page)!).includes(fragment), href);
      }
    });

    it(`names each place once: ${path}`, () => {
      const ids = idsOf(pages.get(path)!);
      assert.equal(new Set(ids).size, ids.length);
    });
  }
});

function isRefusal(value: unknown): boolean {
  return (value as { success?: number }).success === 0;
}
