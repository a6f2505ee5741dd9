// Contract: a search in the console never claims that there is nothing before it has looked everywhere. It
// says how far it has come, and one click continues it.

import assert from 'node:assert/strict';
import { before, it } from 'node:test';
import type { UserGroup } from '../../src/domain/user-group/user-group.ts';
import { ConsoleBrowser } from '../support/console.ts';
import { textOf } from '../support/console-page.ts';
import { describeOnEachDatabase } from '../support/database.ts';
import { elementsOf, textOfElement } from '../support/html.ts';
import type { TestResponse } from '../support/http.ts';
import { served } from '../support/process.ts';
import { TestService } from '../support/service.ts';
import { storeUserGroups } from '../support/user-group/stored-user-group.ts';

const LIST = '/console/user-groups';
/** Exceeds what the first step of a search reads. */
const GROUPS = 6_000;
const idAt = (index: number) => `customer-${String(index).padStart(6, '0')}`;

describeOnEachDatabase('the search for user groups in the console', (database) => {
  const service = TestService.of(database);
  let browser: ConsoleBrowser;
  before(async () => {
    browser = await ConsoleBrowser.signIn(service);
    const groups = Array.from({ length: GROUPS }, (_, index): [string, Partial<UserGroup>] => [
      idAt(index),
      index === GROUPS - 1
        ? { name: 'The rare one', properties: '{"plan":"gold"}' as never }
        : { name: index === 0 ? 'A first one' : `Shop ${index}${index % 25 === 1 ? ', reseller' : ''}` },
    ]);
    await storeUserGroups(service.app.context.store, 'default', Object.fromEntries(groups));
  });

  function linkOf({ text }: TestResponse, id: string): string | undefined {
    return elementsOf(text).find(({ attributes }) => attributes.id === id)?.attributes.href;
  }

  /**
   * Returns the first step of the search that finds something, or the last step. A step ends after half a
   * second, so the number of steps depends on the machine.
   */
  async function searchOn(
    page: TestResponse,
    finds: (page: TestResponse) => boolean = () => false,
  ): Promise<TestResponse> {
    const next = finds(page) ? undefined : linkOf(page, 'search-on');
    return next === undefined ? page : searchOn(await served(() => browser.get(next)), finds);
  }

  for (const [search, read] of [
    ['RARE', '2,000'],
    ['plan: gold', '500'],
  ] as const) {
    it(`says how far it has come, and finds the last group by going on: ${search}`, async () => {
      const first = await browser.get(`${LIST}?${new URLSearchParams({ search })}`);
      assert.match(textOf(first), new RegExp(`Searched ${read} .*user groups: none found yet\\.`));
      assert.doesNotMatch(textOf(first), /No user group/);
      const last = await searchOn(first);
      assert.match(textOf(last), /The rare one/);
      assert.doesNotMatch(textOf(last), /Searched|No user group|Next page/);
    });
  }

  it('goes on with a long text that is cut, and with spaces in quotes', async () => {
    for (const search of ['😀'.repeat(300), `x${'😀'.repeat(300)}`, `${'x'.repeat(254)} y`, '" none "']) {
      const first = await browser.get(`${LIST}?${new URLSearchParams({ search })}`);
      const last = await searchOn(first);
      assert.equal(last.status, 200, search);
      assert.match(textOf(last), /No user group here meets/, search);
    }
  });

  it('finds an id of the greatest length, whatever its characters', async () => {
    const id = '😀'.repeat(255);
    await service.get({ user_group_id: id, name: 'Smiling' });
    const found = await browser.get(`${LIST}?${new URLSearchParams({ search: `${id} ` })}`);
    assert.match(textOf(found), /A user group has exactly this id/);
  });

  it('leads from the former id of a group that was renamed to the group', async () => {
    await service.call('PUT', '/v1/user-groups/old-17', { name: 'Moved' });
    await service.call('POST', '/v1/user-groups/old-17/rename', { user_group_id: 'new-17' });
    const search = async (text: string) => browser.get(`${LIST}?${new URLSearchParams({ search: text })}`);
    const found = await search('old-17');
    assert.match(textOf(found), /A user group with the id old-17 was renamed to new-17 \./);
    assert.equal(linkNamed(found, 'new-17'), `${LIST}/new-17`);
    const status = elementsOf(found.text).find(({ attributes }) => attributes.role === 'status');
    assert.match(status!.text, /^A user group with the id old-17 was renamed to new-17\. Searching…$/);
    for (const text of ['old-1', 'new-17', '\0', 'old-17'.repeat(99)])
      assert.doesNotMatch(textOf(await search(text)), /was renamed/);
    await service.call('PUT', '/v1/user-groups/old-17', { name: 'Another' });
    assert.doesNotMatch(textOf(await search('old-17')), /was renamed/);
  });

  it('says that a group with this id was deleted, and leads to its events', async () => {
    const search = () =>
      browser.get(`${LIST}?${new URLSearchParams({ search: 'departed', match: 'prefix' })}`);
    assert.doesNotMatch(textOf(await search()), /was deleted/);
    await service.get({ user_group_id: 'departed', name: 'Departed' });
    assert.equal((await service.call('DELETE', '/v1/user-groups/departed')).status, 204);
    const page = await search();
    assert.match(textOf(page), /A user group with the id departed was deleted/);
    assert.match(textOf(await browser.get(linkNamed(page, 'its events')!)), /User group deleted/);
  });

  it('is in the title of its page', async () => {
    for (const [query, title] of [
      ['', 'User groups · '],
      ['?search=+acme+', 'User groups: acme · '],
      ['?search=acme&match=prefix&suspended=yes', 'User groups: acme at the start, suspended · '],
      ['?seen=never&seen_before=soon&invalid=mapping', 'User groups: never seen, invalid mapping · '],
    ] as const) {
      const { text } = await served(() => browser.get(LIST + query));
      assert.ok(textOfElement(text, 'title').startsWith(title), query);
    }
  });

  it('leads to the group whose id is the text, before it has searched that far', async () => {
    const id = idAt(GROUPS - 1);
    const search = (query: object) => browser.get(`${LIST}?${new URLSearchParams({ search: id, ...query })}`);
    const found = await search({});
    assert.match(textOf(found), new RegExp(`A user group has exactly this id: ${id} \\.`));
    assert.equal(linkNamed(found, id), `${LIST}/${id}`);
    const listed = await search({ match: 'prefix' });
    assert.match(textOf(listed), /The rare one/);
    assert.doesNotMatch(textOf(listed), /exactly this id/);
  });

  function linkNamed({ text }: TestResponse, name: string): string | undefined {
    return elementsOf(text).find((each) => each.name === 'a' && each.text === name)?.attributes.href;
  }

  function idsOn({ text }: TestResponse): string[] {
    return elementsOf(text)
      .map(({ attributes }) => /\/user-groups\/(customer-\d+)$/.exec(attributes.href ?? '')?.[1])
      .filter((id) => id !== undefined);
  }

  it('names the properties that have no column, because there are too many', async () => {
    const named = async (columns: string) =>
      /No column for [^.]*/.exec(textOf(await served(() => browser.get(`${LIST}?columns=${columns}`))))?.[0];
    assert.equal(await named('a,b,c,d,e'), undefined);
    assert.equal(await named('a,b,c,d,e,a,f'), 'No column for f: a list has at most 5');
    assert.equal(await named('a,b,c,d,e,f,g'), 'No column for f, g: a list has at most 5');
  });

  it('shows properties as columns, even in the steps that a search adds', async () => {
    const query = new URLSearchParams({ search: 'rare', columns: ' plan, seats,plan' });
    const last = await searchOn(await browser.get(`${LIST}?${query}`));
    const titles = elementsOf(last.text).filter(({ name }) => name === 'th');
    assert.deepEqual(
      titles.slice(2, 5).map(({ text }) => text),
      ['Name', 'plan', 'seats'],
    );
    assert.match(textOf(last), /The rare one gold none active/);
  });

  it('counts at the end what it has found before, and leads back to it', async () => {
    const first = await browser.get(`${LIST}?search=first+one`);
    assert.deepEqual(idsOn(first), ['customer-000000']);
    assert.match(textOf(first), /Searched 2,000 .*user groups: 1 found so far\./);
    const last = await searchOn(first);
    assert.deepEqual(idsOn(last), []);
    assert.match(
      textOf(last),
      /No more user groups meet these conditions: 1 was found on the pages before\./,
    );
    assert.doesNotMatch(textOf(last), /No user group/);
    assert.deepEqual(idsOn(await browser.get(linkNamed(last, 'Previous page')!)), ['customer-000000']);
  });

  it('leads from page to page, and back', async () => {
    const forwards = [await browser.get(`${LIST}?search=reseller`)];
    for (let next: string | undefined; ; forwards.push(await browser.get(next))) {
      next = linkNamed(forwards.at(-1)!, 'Next page');
      if (next === undefined) break;
    }
    assert.deepEqual(
      forwards.map((page) => idsOn(page).length),
      [50, 50, 50, 50, 40],
    );
    const backwards = [forwards.at(-1)!];
    for (let index = 1; index < forwards.length; index++)
      backwards.push(await browser.get(linkNamed(backwards.at(-1)!, 'Previous page')!));
    assert.deepEqual(backwards.toReversed().map(idsOn), forwards.map(idsOn));
    const [first] = backwards.toReversed();
    assert.equal(
      linkNamed(first!, 'Next page'),
      linkNamed(forwards[0]!, 'Next page'),
      'counts nothing twice',
    );
  });

  it('says that there is nothing only at the end', async () => {
    const first = await browser.get(`${LIST}?search=nothing`);
    assert.doesNotMatch(textOf(first), /No user group/);
    const hint = /No user group here meets these conditions: nothing\. Only ids and names were searched/;
    assert.match(textOf(await searchOn(first)), hint);
    const all = linkNamed(await searchOn(first), 'Search the values of all properties');
    assert.equal(new URLSearchParams(all!.split('?')[1]).get('search'), '*: nothing');
    const property = await browser.get(`${LIST}?${new URLSearchParams({ search: 'no: thing' })}`);
    const none = textOf(await searchOn(property));
    assert.match(none, /No user group here meets these conditions: no: thing\./);
    assert.doesNotMatch(none, hint);
  });

  it('says that there is nothing yet if it has no condition', async () => {
    const { token } = await service.apiToken({ workspaceName: 'empty' });
    const reader = await ConsoleBrowser.signIn(service, token);
    for (const query of ['', '?columns=plan'])
      assert.match(textOf(await reader.get(`${LIST}${query}`)), /There are no user groups here yet\./);
    const filtered = await reader.get(`${LIST}?suspended=yes&created_since=2026-03-02&columns=plan`);
    assert.match(
      textOf(filtered),
      /No user group here meets these conditions: suspended, created since 2026-03-02 \(UTC\)\./,
    );
    assert.equal(linkNamed(filtered, 'Show all user groups'), `${LIST}?columns=plan`);
  });

  it('ignores case in every script, in names and ids', async () => {
    const names = { scharf: '0 Straße', kelvin: '0 \u212Aelvin', ody: '0 ὈΔΥΣΣΕΎΣ', 'ЖАР-1': '0 Fire' };
    for (const [id, name] of Object.entries(names))
      await served(() => service.get({ user_group_id: id, name }));
    for (const [search, id] of [
      ['STRASSE', 'scharf'],
      ['straße', 'scharf'],
      ['kelvin', 'kelvin'],
      ['ὀδυσσεύς', 'ody'],
      ['жар', 'ЖАР-1'],
    ] as const) {
      const first = await served(() => browser.get(`${LIST}?${new URLSearchParams({ search })}`));
      const finds = ({ text }: TestResponse) => text.includes(`value="${id}"`);
      assert.ok(finds(await searchOn(first, finds)), search);
    }
  });

  it('ignores white space around a text that was pasted', async () => {
    const pasted = (fields: object) => browser.get(`${LIST}?${new URLSearchParams({ ...fields })}`);
    assert.match(textOf(await pasted({ search: ' customer-000000\t' })), /A first one/);
    assert.match(textOf(await pasted({ search: 'customer-00599 ', match: 'prefix' })), /The rare one/);
    await service.get({ user_group_id: 'a', name: 'Mapped', mapping: { 40: 'orders' } });
    assert.match(textOf(await pasted({ data_source: ' orders ' })), /Mapped/);
  });

  it('ignores what JSON and chats add to a text that was copied', async () => {
    const pasted = (search: string) => browser.get(`${LIST}?${new URLSearchParams({ search })}`);
    for (const text of ['"customer-000000"', '"customer-000000",', '\u200bcustomer-000000\u2060'])
      assert.match(textOf(await pasted(text)), /A first one/, text);
    await service.get({ user_group_id: 'b', name: 'Copied', properties: { plan: 'silver', seats: 7 } });
    for (const text of ['"plan": "silver",', 'plan: "silver"', '"seats": 7,', '"seats":7'])
      assert.match(textOf(await pasted(text)), /Copied/, text);
    await service.get({ user_group_id: 'c', name: 'A "quoted" one' });
    assert.match(textOf(await pasted('A "quoted')), /A "quoted" one/);
  });

  it('says that the days of its filters are in UTC', async () => {
    const { text } = await browser.get(LIST);
    const days = elementsOf(text).filter(({ attributes }) => attributes.type === 'date');
    const labels = elementsOf(text).filter(({ attributes }) =>
      days.some((day) => day.attributes.id === attributes.for),
    );
    assert.deepEqual(
      labels.map((label) => label.text),
      ['Not seen since (UTC)', 'Created since (UTC)'],
    );
  });

  it('finds a text anywhere unless asked for the start', async () => {
    const anywhere = await browser.get(`${LIST}?search=000000`);
    assert.match(textOf(anywhere), /customer-000000/);
    const start = await browser.get(`${LIST}?search=000000&match=prefix`);
    assert.match(textOf(start), /No user group here meets these conditions: 000000 at the start\./);
    assert.match(textOf(await browser.get(`${LIST}?search=customer-00599&match=prefix`)), /The rare one/);
  });
});
