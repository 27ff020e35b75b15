import type { IncomingMessage } from 'node:http';
import { beforeEach, expect, it } from 'vitest';
import { tabEventsPath } from '../../api/dashboard-names.ts';
import { settled, until } from '../../time/fake-clock.ts';
import { type Browser, reasonOf } from '../testing/browser.ts';
import { type DashboardFixture, startDashboard } from '../testing/dashboard-fixture.ts';
import { idleMs, mostTabs } from './tab-feed.ts';

let fixture: DashboardFixture;
let user: Browser;

beforeEach(async () => {
  fixture = await startDashboard();
  user = await fixture.browser();
});

/** An open tab with the events so far, as `name:data`. */
class Tab {
  readonly response: IncomingMessage;
  #text = '';

  constructor(response: IncomingMessage) {
    this.response = response;
    response.setEncoding('utf8').on('data', (part: string) => {
      this.#text += part;
    });
  }

  static async open(lastEventId?: string): Promise<Tab> {
    const headers: Record<string, string> =
      lastEventId === undefined ? {} : { 'last-event-id': lastEventId };
    return new Tab(await user.open({ path: tabEventsPath, headers }));
  }

  get events(): string[] {
    return this.#blocks.flatMap((block) => {
      const name = /^event: (.*)$/m.exec(block)?.[1] ?? 'change';
      const data = /^data: (.*)$/m.exec(block)?.[1];
      return data === undefined ? [] : [`${name}:${data}`];
    });
  }

  get lastId(): string {
    return [...this.#text.matchAll(/^id: (.*)$/gm)].at(-1)?.[1] ?? '';
  }

  get #blocks(): string[] {
    return this.#text.split('\n\n');
  }

  async waitFor(event: string): Promise<void> {
    await until(`${event} in ${this.#text}`, () => this.events.includes(event));
  }
}

const reset = 'reset:{}';

function change(n: number) {
  return { kind: 'change', id: `up-${n}`, data: `{"n":${n}}` } as const;
}

it('all tabs share an upstream, and a new upstream begins with a reset', async () => {
  const tabs = [await Tab.open(), await Tab.open()];
  expect(fixture.upstream.connections.map(({ lastId }) => lastId)).toEqual([undefined]);
  const { send } = fixture.upstream.latest;
  send(change(1));
  send(change(2));
  for (const tab of tabs) {
    await tab.waitFor('change:{"n":2}');
    expect(tab.events).toEqual([reset, 'change:{"n":1}', 'change:{"n":2}']);
  }
});

it('an upstream heartbeat reaches open tabs, and no resume', async () => {
  const tab = await Tab.open();
  const { send } = fixture.upstream.latest;
  send({ kind: 'heartbeat', id: 'up-0' });
  await tab.waitFor('heartbeat:{}');
  const { lastId } = tab;
  send({ kind: 'heartbeat', id: 'up-0' });
  send(change(1));
  const resumed = await Tab.open(lastId);
  await resumed.waitFor('change:{"n":1}');
  expect(resumed.events).toEqual(['change:{"n":1}']);
});

it('a lost upstream is connected again after its last event, later each time without events', async () => {
  const tab = await Tab.open();
  const { connections } = fixture.upstream;
  for (const ms of [1_000, 2_000, 4_000, 1_000]) {
    if (ms === 1_000) fixture.upstream.latest.send(change(7));
    const { length } = connections;
    fixture.upstream.latest.fail(new Error('cut'));
    await settled();
    await fixture.clock.advance(ms - 1);
    expect(connections).toHaveLength(length);
    await fixture.clock.advance(1);
    expect(connections).toHaveLength(length + 1);
  }
  expect(connections.at(-1)?.lastId).toBe('up-7');
  fixture.upstream.latest.send(change(8));
  await tab.waitFor('change:{"n":8}');
  const [seven, eight] = ['change:{"n":7}', 'change:{"n":8}'];
  expect(tab.events).toEqual([reset, seven, seven, eight]);
});

it('tabs learn that they must poll, and a later stream begins with a reset', async () => {
  const tab = await Tab.open();
  fixture.upstream.latest.send(change(1));
  fixture.upstream.latest.send({ kind: 'polling' });
  await tab.waitFor('polling:{}');
  fixture.upstream.latest.fail(new Error('no stream'));
  await settled();
  await fixture.clock.advance(2_000);
  expect(fixture.upstream.latest.lastId).toBeUndefined();
  fixture.upstream.latest.send(change(2));
  await tab.waitFor('change:{"n":2}');
  expect(tab.events).toEqual([reset, 'change:{"n":1}', 'polling:{}', reset, 'change:{"n":2}']);
});

it('an upstream reset reaches every tab', async () => {
  const tab = await Tab.open();
  fixture.upstream.latest.send(change(1));
  fixture.upstream.latest.send({ kind: 'reset', id: 'other-5' });
  await until('two resets', () => tab.events.length === 3);
  expect(tab.events.at(-1)).toBe(reset);
});

it.each([
  ['from a different run', () => '00000000-0000-4000-8000-000000000000-1', [reset]],
  ['without a number', () => 'x', [reset]],
  ['from the future', (id: string) => id.replace(/\d+$/, '9999'), [reset]],
  ['before the stored changes', (id: string) => id.replace(/\d+$/, '1'), [reset]],
  ['from the last change', (id: string) => id, []],
])('a resume with an id %s gets %j', async (...row) => {
  const [, idFrom, events] = row;
  const tab = await Tab.open();
  for (let n = 1; n <= 2_100; n++) fixture.upstream.latest.send(change(n));
  await tab.waitFor('change:{"n":2100}');
  expect(tab.events).toHaveLength(2_101);
  const resumed = await Tab.open(idFrom(tab.lastId));
  fixture.upstream.latest.send(change(2_101));
  await resumed.waitFor('change:{"n":2101}');
  expect(resumed.events.slice(0, -1)).toEqual(events);
});

it('a line break in data does not begin an event', async () => {
  const tab = await Tab.open();
  fixture.upstream.latest.send({ kind: 'change', id: 'up-1', data: '{\r\n\n"n":1}\nevent: x' });
  await tab.waitFor('change:{   "n":1} event: x');
  expect(tab.events).toHaveLength(2);
});

it('the upstream ends a minute after the last tab, and a later tab resumes the upstream', async () => {
  const tab = await Tab.open();
  const { latest } = fixture.upstream;
  latest.send(change(1));
  await tab.waitFor('change:{"n":1}');
  tab.response.destroy();
  await settled();
  await until('the end of the stream', () => tab.response.closed);
  await fixture.clock.advance(idleMs - 2_000);
  expect(latest.signal.aborted).toBe(false);
  await fixture.clock.advance(4_000);
  expect(latest.signal.aborted).toBe(true);
  expect(fixture.clock.waits).toEqual([]);
  await Tab.open(tab.lastId);
  expect(fixture.upstream.connections.map(({ lastId }) => lastId)).toEqual([undefined, 'up-1']);
});

it('a tab without login gets no stream, and a dropped cookie ends the stream', async () => {
  const tab = await Tab.open();
  expect((await fixture.stranger().fetch({ path: tabEventsPath })).status).toBe(401);
  expect(fixture.upstream.connections).toHaveLength(1);
  for (let n = 0; n < 32; n++) await fixture.browser();
  await fixture.clock.advance(15_000);
  await until('the end of the stream', () => tab.response.complete);
});

it('a stream too many gets 503, and the other requests go on', async () => {
  for (let n = 0; n < mostTabs; n++) await Tab.open();
  const refused = await user.fetch({ path: tabEventsPath });
  expect([refused.status, reasonOf(refused)]).toEqual([503, 'TooManyTabs']);
  expect((await user.fetch({ path: '/api/nics' })).status).toBe(200);
});

it('an ending dashboard closes its streams and the upstream', async () => {
  const tab = await Tab.open();
  const { signal } = fixture.upstream.latest;
  await fixture.dashboard[Symbol.asyncDispose]();
  await until('the end of the stream', () => tab.response.complete);
  expect(signal.aborted).toBe(true);
});
