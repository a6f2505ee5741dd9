// A browser without JavaScript: it keeps the cookie, and sends the forms of pages.

import assert from 'node:assert/strict';
import { send, type TestResponse } from './http.ts';
import type { TestService } from './service.ts';

const FORM = /<form method="post" action="([^"]*)"[^>]*>([\s\S]*?)<\/form>/g;
const HIDDEN = /<input type="hidden" name="([^"]*)" value="([^"]*)">/g;

type Fields = Record<string, string>;

export class ConsoleBrowser {
  readonly #service: TestService;
  #cookie = '';

  /** With the API token of the service if none is given. */
  static async signIn(service: TestService, apiToken = service.token): Promise<ConsoleBrowser> {
    const browser = new ConsoleBrowser(service);
    const response = await browser.post('/console/sign-in', { api_token: apiToken });
    assert.equal(response.status, 303, response.text);
    return browser;
  }

  private constructor(service: TestService) {
    this.#service = service;
  }

  get(path: string): Promise<TestResponse> {
    return this.#send('GET', path);
  }

  /** Opens the page, and sends its form with this action: its hidden fields, and `fields`. */
  async submit(formPage: string, action: string, fields: Fields): Promise<TestResponse> {
    return this.post(action, { ...(await this.open(formPage, action)), ...fields });
  }

  /** Opens the page, and returns the hidden fields of its form with this action. */
  async open(formPage: string, action: string): Promise<Fields> {
    const page = await this.get(formPage);
    assert.equal(page.status, 200, `${formPage}: ${page.status}`);
    return hiddenFields(page, action);
  }

  post(action: string, fields: Fields): Promise<TestResponse> {
    const body = new URLSearchParams(fields).toString();
    return this.#send('POST', action, body);
  }

  async #send(method: string, path: string, body?: string): Promise<TestResponse> {
    const { url } = this.#service;
    const headers = {
      accept: 'text/html',
      ...(this.#cookie !== '' && { cookie: this.#cookie }),
      ...(body !== undefined && { 'content-type': 'application/x-www-form-urlencoded', origin: url }),
    };
    const response = await send(url, { method, path, body, headers });
    const [set] = response.headers['set-cookie'] ?? [];
    if (set !== undefined) this.#cookie = set.split(';')[0]!;
    return response;
  }
}

/** Of the form with this action on the page. */
export function hiddenFields({ text }: TestResponse, action: string): Fields {
  const forms = [...text.matchAll(FORM)];
  const form = forms.find(([, each]) => unescaped(each!) === action);
  assert.ok(form !== undefined, `no form with the action ${action}`);
  return Object.fromEntries(
    [...form[2]!.matchAll(HIDDEN)].map(([, name, value]) => [unescaped(name!), unescaped(value!)]),
  );
}

/** The text of a page: without tags, with its characters unescaped. */
export function textOf({ text }: TestResponse): string {
  const [, main = ''] = /<main[^>]*>([\s\S]*)<\/main>/.exec(text) ?? [];
  return unescaped(main.replace(/<[^>]*>/g, ' ')).replace(/\s+/g, ' ');
}

export function unescaped(html: string): string {
  return html.replace(/&#(\d+);/g, (_, number: string) => String.fromCharCode(Number(number)));
}

/** Breaks out of text, of attributes in either quotes, and of text areas. */
export const MARKUP = `</textarea></title><script>alert(1)</script>"'><img src=x onerror=alert(1)>`;

/** The page shows the markup as text. */
export function assertEscaped({ text }: TestResponse): void {
  assert.doesNotMatch(text, /<script>|<img/);
  assert.match(unescaped(text), /<script>alert\(1\)/);
}
