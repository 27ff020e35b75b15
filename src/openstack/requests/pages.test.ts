import { beforeEach, describe, expect, test } from 'vitest';
import * as z from 'zod';
import type { Call } from '../../requests/caller.ts';
import { answerOf } from '../../requests/fake-caller.ts';
import type { HttpAnswer } from '../../requests/transport.ts';
import { createFakeService } from './fake-service.ts';
import { type Listing, readPages } from './pages.ts';
import { ReadMemory } from './read-memory.ts';

const signal = new AbortController().signal;
const listing = {
  path: '/v2.0/ports',
  query: [['device_id', 's']],
  key: 'ports',
  item: z.object({ id: z.string() }).transform((wire) => wire.id),
  idOf: (id: string) => id,
  markerGone: 404,
} satisfies Listing<string>;

function page(ids: readonly string[], next?: string): HttpAnswer {
  const links =
    next === undefined
      ? {}
      : {
          ports_links: [
            { rel: 'previous', href: 'x' },
            { rel: 'next', href: next },
          ],
        };
  return answerOf(200, { ports: ids.map((id) => ({ id })), ...links });
}

async function read(respond: (call: Call, index: number) => HttpAnswer) {
  const { client, caller } = createFakeService('neutron', respond);
  const outcome = await readPages(client, listing, signal).then(
    (found) => [...found.keys()],
    (error: unknown) => error,
  );
  return { outcome, sent: caller.sent.map((call) => call.url.href) };
}

describe('readPages', () => {
  test("readPages follows next links at the service's own address, whatever host the link names", async () => {
    const { outcome, sent } = await read((call) =>
      call.url.searchParams.has('marker')
        ? page(['b'])
        : page(['a'], 'http://inside:9696/v2.0/ports?device_id=s&limit=1&marker=a'),
    );
    expect(outcome).toEqual(['a', 'b']);
    expect(sent[1]).toBe('http://neutron/v2.0/ports?device_id=s&limit=1&marker=a');
  });

  test('readPages accepts an empty page after a full last page', async () => {
    const { outcome } = await read((_, index) =>
      index === 0 ? page(['a', 'b'], '?marker=b') : page([]),
    );
    expect(outcome).toEqual(['a', 'b']);
  });

  test('a resource on two pages appears once', async () => {
    const { outcome } = await read((_, index) =>
      index === 0 ? page(['a', 'b'], '?marker=b') : page(['b', 'c']),
    );
    expect(outcome).toEqual(['a', 'b', 'c']);
  });

  test('a list restarts without the old items when the marker was deleted', async () => {
    const gone = answerOf(404, { NeutronError: { type: 'PortNotFound', message: '' } });
    const script = [page(['a', 'b'], '?marker=b'), gone, page(['a'], '?marker=a'), page(['c'])];
    const { outcome, sent } = await read((_, index) => script[index] ?? gone);
    expect(outcome).toEqual(['a', 'c']);
    expect(sent).toHaveLength(4);
  });

  test('readPages fails after four reads when every marker is deleted', async () => {
    const { outcome, sent } = await read((call) =>
      call.url.searchParams.has('marker') ? answerOf(404, {}) : page(['a'], '?marker=a'),
    );
    expect(outcome).toMatchObject({ kind: 'badAnswer' });
    expect(sent).toHaveLength(8);
  });

  test('a 404 for the first page is an error, not an empty list', async () => {
    const { outcome } = await read(() => answerOf(404, {}));
    expect(outcome).toMatchObject({ kind: 'notFound' });
  });

  test('pages whose next link repeats are an error', async () => {
    const { outcome, sent } = await read(() => page(['a'], '?marker=a'));
    expect(outcome).toMatchObject({ kind: 'badAnswer' });
    expect(sent).toHaveLength(2);
  });

  test.each([
    ['an empty page', []],
    ['a page with known items only', ['a']],
  ])('%s with a new next link is no end', async (_, items) => {
    const script = [page(['a'], '?marker=a'), page(items, '?marker=b'), page(['c'])];
    const { outcome } = await read((_call, index) => script[index] ?? answerOf(500, {}));
    expect(outcome).toEqual(['a', 'c']);
  });

  test.each([
    ['without its list', answerOf(200, { servers: [] })],
    ['with an array as body', answerOf(200, [])],
    ['with a malformed item', answerOf(200, { ports: [{ id: 'a' }, {}] })],
    ['that is not JSON', { status: 200, headers: {}, text: '' }],
  ])('an answer %s is badAnswer, never an empty list', async (_, answer) => {
    expect((await read(() => answer)).outcome).toMatchObject({ kind: 'badAnswer' });
  });

  test('a failing second page fails the list', async () => {
    const { outcome } = await read((_, index) =>
      index === 0 ? page(['a'], '?marker=a') : answerOf(403, {}),
    );
    expect(outcome).toMatchObject({ kind: 'forbidden' });
  });
});

interface Item {
  readonly id: string;
  readonly text: string;
}

function idOfItem({ id }: Item): string {
  return id;
}

describe('page memory', () => {
  let parsed: string[];
  let memory: ReadMemory<Item>;

  beforeEach(() => {
    parsed = [];
    memory = new ReadMemory();
  });

  /** Reads a list with one item per page; each item is written as id=text. */
  async function again(pages: readonly string[], name = 'list') {
    const { client } = createFakeService('neutron', ({ url }) => {
      const at = Number(url.searchParams.get('marker') ?? 0);
      const [id, text] = (pages[at] ?? '').split('=');
      const next = at + 1 < pages.length ? [{ rel: 'next', href: `?marker=${at + 1}` }] : [];
      return answerOf(200, { ports: [{ id, text }], ports_links: next });
    });
    const item = z.object({ id: z.string(), text: z.string() }).transform((wire) => {
      parsed.push(`${wire.id}=${wire.text}`);
      return wire;
    });
    const found = await readPages(
      client,
      { ...listing, item, idOf: idOfItem, memory: { pages: memory, name } },
      signal,
    );
    return [...found.values()];
  }

  test.each([
    ['no page when all bytes are equal', ['a=1', 'b=1'], []],
    ['the changed last page', ['a=1', 'b=2'], ['b=2']],
    ['the changed first page', ['a=2', 'b=1'], ['a=2']],
    ['a new last page and its predecessor', ['a=1', 'b=1', 'c=1'], ['b=1', 'c=1']],
    ['the new last page of a shorter list', ['a=1'], ['a=1']],
    ['swapped pages', ['b=1', 'a=1'], ['b=1', 'a=1']],
  ])('repeated lists parse only changed pages: %s', async (_, pages, isParsed) => {
    const first = await again(['a=1', 'b=1']);
    parsed = [];
    const second = await again(pages);
    expect(second.map(({ id, text }) => `${id}=${text}`)).toEqual(pages);
    expect(parsed).toEqual(isParsed);
    const same = second.filter((one) => first.includes(one));
    expect(same).toHaveLength(pages.length - isParsed.length);
  });

  test('page memory is separate per list', async () => {
    await again(['a=1']);
    parsed = [];
    await again(['a=1'], 'another');
    expect(parsed).toEqual(['a=1']);
  });
});
