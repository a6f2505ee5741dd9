// A browser without JavaScript for the console: cookies, pages, and forms with the fields that the page gave
// them.

import assert from 'node:assert/strict';
import { elementsOf } from './html.ts';
import { send, type TestResponse } from './http.ts';
import { admitted, served } from './process.ts';
import type { TestService } from './service.ts';

type Fields = Readonly<Record<string, string>>;

let workspaces = 0;

/**
 * Creates a workspace with an API token and a browser of an administrator, the API, and browsers of other
 * people.
 */
export async function newWorkspace(service: TestService) {
  const workspaceName = `workspace ${workspaces++}`;
  const { id, token } = await service.apiToken({ permission: 'admin', workspaceName, name: 'mine' });
  const browser = await ConsoleBrowser.signIn(service, token);
  const call = (method: string, path: string, body?: unknown) =>
    served(() => service.call(method, path, body, { token }));
  const reader = async (permission: 'read-only' | 'read-write' = 'read-only') =>
    ConsoleBrowser.signIn(service, (await service.apiToken({ permission, workspaceName })).token);
  return { workspaceName, id, token, browser, call, reader };
}

export class ConsoleBrowser {
  readonly #service: TestService;
  readonly #hasAnyText: boolean;
  readonly #cookies = new Map<string, string>();

  /**
   * Signs in with the API token of the service unless another is given. `hasAnyText`: stored texts may look
   * like mistakes of a page.
   */
  static async signIn(
    service: TestService,
    apiToken = service.token,
    { hasAnyText = false } = {},
  ): Promise<ConsoleBrowser> {
    const browser = new ConsoleBrowser(service, hasAnyText);
    const response = await browser.#post('/console/sign-in', { api_token: apiToken });
    assert.equal(response.status, 303, response.text);
    return browser;
  }

  private constructor(service: TestService, hasAnyText: boolean) {
    this.#service = service;
    this.#hasAnyText = hasAnyText;
  }

  get(path: string, headers: Fields = {}): Promise<TestResponse> {
    return this.#send('GET', path, undefined, headers);
  }

  /** Submits the form with this action on the page, with its own fields and these. */
  async submit(formPage: string, action: string, fields: Fields = {}): Promise<TestResponse> {
    return this.submitFrom(await this.get(formPage), action, fields);
  }

  /**
   * Does the same on a page that is already loaded, such as the response to another form. `action` may be
   * that of a button.
   */
  submitFrom(page: TestResponse, action: string, fields: Fields = {}): Promise<TestResponse> {
    return this.#post(action, { ...fieldsOf(page.text, action), ...fields });
  }

  /** Sends the fields as they are, without a page. */
  post(action: string, fields: Fields, headers: Fields = {}): Promise<TestResponse> {
    return this.#post(action, fields, headers);
  }

  /** Does the same for fields of which several have the same name. */
  postFields(action: string, fields: readonly (readonly [string, string])[]): Promise<TestResponse> {
    return this.#send(
      'POST',
      action,
      new URLSearchParams(fields.map(([name, text]) => [name, text])).toString(),
    );
  }

  follow({ status, headers, text }: TestResponse): Promise<TestResponse> {
    assert.equal(status, 303, text);
    return this.get(headers.location!);
  }

  #post(path: string, fields: Fields, headers: Fields = {}): Promise<TestResponse> {
    // Browsers send line breaks as CR LF.
    const entries = Object.entries(fields).map(([name, text]) => [name, text.replace(/\r?\n/g, '\r\n')]);
    const body = new URLSearchParams(entries).toString();
    return this.#send('POST', path, body, headers);
  }

  #store(cookie: string): void {
    const [pair = ''] = cookie.split(';', 1);
    const at = pair.indexOf('=');
    const [name, value] = [pair.slice(0, at), pair.slice(at + 1)];
    if (cookie.includes('; Max-Age=0;')) this.#cookies.delete(name);
    else this.#cookies.set(name, value);
  }

  /** Value of the `Cookie` header of its requests. */
  get cookie(): string {
    return [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  }

  /** Forgets the cookies, like a browser after they expire. */
  forgetCookies(): void {
    this.#cookies.clear();
  }

  async #send(method: string, path: string, body?: string, others: Fields = {}): Promise<TestResponse> {
    const { url } = this.#service;
    const headers = {
      ...others,
      cookie: this.cookie,
      'sec-fetch-site': 'same-origin',
      ...(method === 'POST' && {
        origin: url,
        'content-type': 'application/x-www-form-urlencoded',
      }),
    };
    const response = await admitted(
      () => send(url, { method, path, body, headers }),
      ({ text }) => method !== 'GET' || !text.includes('too busy to'),
    );
    if (!this.#hasAnyText) assertNoMistakes(response.text, path);
    assertErrorsNameLabels(response.text, path);
    assertRowsHaveHeaders(response.text, path);
    for (const cookie of response.headers['set-cookie'] ?? []) this.#store(cookie);
    return response;
  }
}

const MARKUP = /&#60;(?:a href&#61;&#34;\/console|code&#62;|p&#62;|span class|time datetime)/;

/**
 * Checks that no visible text comes from an absent value or an object, and that no markup is shown as text.
 * Stored values are in elements for code, except ids, which the path also contains, and names.
 */
export function assertNoMistakes(page: string, path: string): void {
  const text = page.replace(/<(code|textarea|option)\b[^>]*>[\s\S]*?<\/\1>/g, '').replace(/<[^>]*>/g, ' ');
  assert.doesNotMatch(text, MARKUP, path);
  const [mistake] = /\[object \w+\]|\b(?:undefined|NaN)\b/.exec(text) ?? [];
  assert(mistake === undefined || path.includes(encodeURIComponent(mistake)), `${path}: ${mistake}`);
}

/**
 * Checks that the error summary of a form names each field as its label does, or as the legend of its group
 * does.
 */
function assertErrorsNameLabels(page: string, path: string): void {
  if (!page.includes('href="#at/')) return;
  const elements = elementsOf(page);
  const legends = elements.filter(({ name }) => name === 'legend').map((legend) => legend.text);
  for (const { attributes, text } of elements) {
    const { href = '' } = attributes;
    const isError = href.startsWith('#at/');
    const targets = elements.filter(({ attributes: { id } }) => isError && id === href.slice(1));
    assert.equal(targets.length, isError ? 1 : 0, `${path}: ${targets.length} errors at ${href}`);
    const [, field] = /^#at\/([^/]+)$/.exec(href) ?? [];
    const labels = elements.filter((each) => field !== undefined && each.attributes.for === field);
    for (const label of labels) assert.ok([label.text, ...legends].includes(text), `${path}: ${text}`);
  }
}

/** Checks that each row of a table has one header, except for the row of its columns. */
function assertRowsHaveHeaders(page: string, path: string): void {
  for (const row of page
    .replace(/<thead>\s*<tr>/g, '')
    .split('<tr>')
    .slice(1))
    assert.equal(
      row.split('</tr>', 1)[0]!.split('<th scope="row"').length,
      2,
      `${path}: ${row.slice(0, 200)}`,
    );
}

/**
 * Returns what a browser sends if nothing is typed into the form with this action, or into one with such a
 * button.
 */
export function fieldsOf(document: string, action: string): Fields {
  const fields: Record<string, string> = {};
  const forms: { isWanted: boolean; fields: [name: string, value: string][] }[] = [];
  let choice: string | undefined;
  for (const { name: tag, attributes, text } of elementsOf(document)) {
    const form = forms.at(-1);
    const name = attributes.name ?? '';
    if (tag === 'form') forms.push({ isWanted: attributes.action === action, fields: [] });
    else if (tag === 'button' && attributes.formaction === action) form!.isWanted = true;
    else if (tag === 'input' && (attributes.type !== 'checkbox' || 'checked' in attributes))
      form?.fields.push([name, attributes.value ?? '']);
    else if (tag === 'textarea') form?.fields.push([name, text.replace(/^\n/, '')]);
    else if (tag === 'select') choice = name;
    else if (tag === 'datalist') choice = undefined;
    else if (tag === 'option' && choice !== undefined) {
      const isFirst = !form?.fields.some(([each]) => each === choice);
      if (isFirst || 'selected' in attributes) form?.fields.push([choice!, attributes.value!]);
    }
  }
  const wanted = forms.filter(({ isWanted }) => isWanted);
  assert.equal(wanted.length, 1, `${wanted.length} forms with the action ${action}`);
  for (const [name, value] of wanted[0]!.fields) fields[name] = value;
  return fields;
}
