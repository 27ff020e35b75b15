import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import type { Call } from '../../requests/caller.ts';
import { answerOf } from '../../requests/fake-caller.ts';
import type { HttpAnswer } from '../../requests/transport.ts';
import { createFakeService } from './fake-service.ts';
import { type Listing, readPages } from './pages.ts';

const signal = new AbortController().signal;
const listing: Listing<string> = {
  path: '/v2.0/ports',
  query: [['device_id', 's']],
  key: 'ports',
  item: z.object({ id: z.string() }).transform((wire) => wire.id),
  idOf: (id) => id,
  markerGone: 404,
};

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
