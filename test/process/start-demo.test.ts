// `start --demo`: from a new folder to a dashboard that shows each customer its own rows.

import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { ConsoleBrowser } from '../support/console.ts';
import { textOf } from '../support/console-page.ts';
import { send, type TestResponse } from '../support/http.ts';
import { Folder, Program, run } from '../support/process.ts';
import type { TestService } from '../support/service.ts';

/** Started service, with an admin signed in to its console. */
class Demo extends Program {
  url = '';
  token = '';
  browser!: ConsoleBrowser;

  static async start(folder: Folder, args: readonly string[] = ['--demo']): Promise<Demo> {
    const demo = new Demo(folder, ['start', ...args]);
    try {
      await demo.says(/Press Ctrl-C to stop/);
      demo.url = /Address +(http:\S+)/.exec(demo.stdout)![1]!;
      const file = /stored in (\S+): sign in to the console with it/.exec(demo.stdout)![1]!;
      demo.token = readFileSync(folder.join(file), 'utf8').trim();
      demo.browser = await ConsoleBrowser.signIn(demo as Pick<TestService, 'url' | 'token'> as TestService);
      return demo;
    } catch (error) {
      await demo.kill();
      throw error;
    }
  }

  call(path: string): Promise<TestResponse> {
    return send(this.url, { path, token: this.token });
  }

  dashboardOf(customer: string): Promise<TestResponse> {
    return this.browser.get(`/console/user-groups/demo-${customer}/view-as`);
  }

  async end(): Promise<void> {
    this.signal('SIGINT');
    assert.equal((await this.exit()).code, 0);
  }
}

/** Returns the numbers in the chart. */
function numbersOf(page: TestResponse): string[] {
  return [...textOf(page).matchAll(/2026-\d\d ([\d,]+)/g)].map(([, value]) => value!);
}

describe('start --demo', () => {
  it('prints the page that shows the dashboard of a customer with only its own rows', async () => {
    using folder = new Folder();
    await using demo = await Demo.start(folder);
    assert.match(demo.stdout, new RegExp(`Console +${demo.url}/console\n`));
    const link = /Demo +(http:\S+)/.exec(demo.stdout)![1]!;
    const page = await demo.browser.get(link.slice(demo.url.length));
    assert.match(textOf(page), /^ User groups demo-alpenglow View as Alpenglow Coffee/);
    const shown = await Promise.all(
      ['alpenglow', 'nordwind', 'redwood'].map((each) => demo.dashboardOf(each)),
    );
    assert.deepEqual(numbersOf(page), numbersOf(shown[0]!));
    for (const [index, customerId] of ['C-1001', 'C-1002', 'C-2001'].entries()) {
      const text = textOf(shown[index]!);
      assert.match(text, new RegExp(`:customer_id "${customerId}"`));
      assert.match(text, new RegExp(`"customer": "${customerId}"`));
    }
    const [first, second, third] = shown.map(numbersOf);
    assert.equal(first!.filter((number) => second!.includes(number) || third!.includes(number)).length, 0);
    assert.ok(first!.length > 0 && second!.length > 0 && third!.length > 0);
  });

  it('changes nothing when it is repeated, and completes what is missing', async () => {
    using folder = new Folder();
    await using first = await Demo.start(folder);
    const before = (await first.call('/v1/user-groups')).json.user_groups;
    const chart = numbersOf(await first.dashboardOf('redwood'));
    assert.equal(before.length, 3);
    await first.end();
    const file = readFileSync(folder.join('data/demo/orders-eu.db'));
    await using second = await Demo.start(folder);
    assert.deepEqual((await second.call('/v1/user-groups')).json.user_groups, before);
    assert.deepEqual(numbersOf(await second.dashboardOf('redwood')), chart);
    assert.equal((await second.call('/v1/data-sources')).json.data_sources.length, 2);
    assert.equal((await second.call('/v1/integrations')).json.integrations.length, 1);
    assert.deepEqual(readFileSync(folder.join('data/demo/orders-eu.db')), file);
  });

  it('adds the demo to existing data', async () => {
    using folder = new Folder();
    await using first = await Demo.start(folder, []);
    assert.doesNotMatch(first.stdout, /Demo/);
    assert.equal((await first.call('/v1/user-groups')).json.user_groups.length, 0);
    await first.end();
    await using second = await Demo.start(folder);
    assert.equal((await second.call('/v1/user-groups')).json.user_groups.length, 3);
  });

  it('exits with 78 and one line if the sample files cannot be created', async () => {
    using folder = new Folder();
    mkdirSync(folder.join('data'));
    writeFileSync(folder.join('data/demo'), 'a file');
    const { code, stdout, stderr } = await run(folder, ['start', '--demo']);
    assert.equal(code, 78);
    assert.equal(stdout, '');
    assert.match(stderr, /^user-group-service: cannot create the demo data: [^\n]+\n$/);
  });
});
