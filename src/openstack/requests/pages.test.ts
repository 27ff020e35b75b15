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
  test('follows every next, at our own address whatever host the link names', async () => {
    const { outcome, sent } = await read((call) =>
      call.url.searchParams.has('marker')
        ? page(['b'])
        : page(['a'], 'http://inside:9696/v2.0/ports?device_id=s&limit=1&marker=a'),
    );
    expect(outcome).toEqual(['a', 'b']);
    expect(sent[1]).toBe('http://neutron/v2.0/ports?device_id=s&limit=1&marker=a');
  });

  test('takes an empty page behind a last full one', async () => {
    const { outcome } = await read((_, index) =>
      index === 0 ? page(['a', 'b'], '?marker=b') : page([]),
    );
    expect(outcome).toEqual(['a', 'b']);
  });

  test('has a resource once that moved from page to page', async () => {
    const { outcome } = await read((_, index) =>
      index === 0 ? page(['a', 'b'], '?marker=b') : page(['b', 'c']),
    );
    expect(outcome).toEqual(['a', 'b', 'c']);
  });

  test('starts again when the marker was deleted, and forgets what it had', async () => {
    const gone = answerOf(404, { NeutronError: { type: 'PortNotFound', message: '' } });
    const script = [page(['a', 'b'], '?marker=b'), gone, page(['a'], '?marker=a'), page(['c'])];
    const { outcome, sent } = await read((_, index) => script[index] ?? gone);
    expect(outcome).toEqual(['a', 'c']);
    expect(sent).toHaveLength(4);
  });

  test('gives up on a list that changes under every read', async () => {
    const { outcome, sent } = await read((call) =>
      call.url.searchParams.has('marker') ? answerOf(404, {}) : page(['a'], '?marker=a'),
    );
    expect(outcome).toMatchObject({ kind: 'badAnswer' });
    expect(sent).toHaveLength(8);
  });

  test('a 404 of the first page is an error and no empty list', async () => {
    const { outcome } = await read(() => answerOf(404, {}));
    expect(outcome).toMatchObject({ kind: 'notFound' });
  });

  test('pages that never end are an error', async () => {
    const { outcome, sent } = await read(() => page(['a'], '?marker=a'));
    expect(outcome).toMatchObject({ kind: 'badAnswer' });
    expect(sent).toHaveLength(2);
  });

  test.each([
    ['without its list', answerOf(200, { servers: [] })],
    ['that is no object', answerOf(200, [])],
    ['with an item of another form', answerOf(200, { ports: [{ id: 'a' }, {}] })],
    ['that is not JSON', { status: 200, headers: {}, text: '' }],
  ])('an answer %s is badAnswer, never an empty list', async (_, answer) => {
    expect((await read(() => answer)).outcome).toMatchObject({ kind: 'badAnswer' });
  });

  test('a page that fails in the middle fails the list', async () => {
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

describe('pages that are read again', () => {
  let parsed: string[];
  let memory: ReadMemory<Item>;

  beforeEach(() => {
    parsed = [];
    memory = new ReadMemory();
  });

  /** Reads a list whose pages each hold one item: an id with a text. */
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
    ['none when all have the same bytes', ['a=1', 'b=1'], []],
    ['the one that has changed', ['a=1', 'b=2'], ['b=2']],
    ['the one before the end that has changed', ['a=2', 'b=1'], ['a=2']],
    [
      'what is new at the end, and the page that ended the list',
      ['a=1', 'b=1', 'c=1'],
      ['b=1', 'c=1'],
    ],
    ['the page that ends the list now', ['a=1'], ['a=1']],
    ['those that have changed places', ['b=1', 'a=1'], ['b=1', 'a=1']],
  ])('are parsed as far as needed: %s', async (_, pages, isParsed) => {
    const first = await again(['a=1', 'b=1']);
    parsed = [];
    const second = await again(pages);
    expect(second.map(({ id, text }) => `${id}=${text}`)).toEqual(pages);
    expect(parsed).toEqual(isParsed);
    const same = second.filter((one) => first.includes(one));
    expect(same).toHaveLength(pages.length - isParsed.length);
  });

  test('are those of the same list only', async () => {
    await again(['a=1']);
    parsed = [];
    await again(['a=1'], 'another');
    expect(parsed).toEqual(['a=1']);
  });
});
