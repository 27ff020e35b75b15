import { describe, expect, it } from 'vitest';
import { line, type Script } from '../../src/kube/testing/scripted-server.ts';
import { begunAnswer, get, setUp } from './proxy-in-test.ts';

describe('faults of watch events', () => {
  const events = [
    line('ADDED', { metadata: { namespace: 'n', name: 'a', resourceVersion: '1' } }),
    line('ADDED', { metadata: { namespace: 'n', name: 'b', resourceVersion: '2' } }),
    line('BOOKMARK', { metadata: { resourceVersion: '9' } }),
  ];
  const watching: Script = (_, response) => {
    // In pieces that are no lines.
    response.write(events.join('').slice(0, 10));
    response.end(events.join('').slice(10));
  };

  it.each([
    ['drop', { type: 'ADDED', object: '^n/a$' }, ['b 2', ' 9']],
    ['twice', { object: '^n/a$' }, ['a 1', 'a 1', 'b 2', ' 9']],
    ['swap', { object: '^n/a$' }, ['b 2', 'a 1', ' 9']],
    ['gone', { object: '^n/b$' }, ['a 1', '410']],
    ['own-version', { type: 'BOOKMARK' }, ['a 1', 'b 2', ' 2']],
  ] as const)('%s', async (action, match, expected) => {
    const { proxy, client } = await setUp(watching);
    proxy.add({ fault: 'watch-event', action, ...match });
    const { text } = await get(client, '/pods?watch=true');
    const seen = text.trim().split('\n').map(described);
    expect(seen).toEqual(expected);
  });

  it('swaps each with the next when every one is met, and holds none back for ever', async () => {
    const { proxy, client } = await setUp(watching);
    proxy.add({ fault: 'watch-event', action: 'swap' });
    const { text } = await get(client, '/pods?watch=true');
    expect(text.trim().split('\n').map(described)).toEqual(['b 2', 'a 1', ' 9']);
  });

  it('delays an event and those behind it', async () => {
    const held = Promise.withResolvers<void>();
    const sleep = () => held.promise;
    const clock = { now: () => new Date(), monotonicMs: () => 0, sleep };
    const { proxy, client } = await setUp(watching, { clock });
    proxy.add({ fault: 'watch-event', action: 'delay', object: '^n/b$', ms: 1 });
    const begun = await begunAnswer(client, '/pods?watch=true');
    expect(begun).toEqual({ status: 200, text: events[0], how: 'hangs' });
    held.resolve();
  });

  it('gives every bookmark the version of the event before it, not of a bookmark', async () => {
    const bookmarks = ['9', '12'].map((resourceVersion) =>
      line('BOOKMARK', { metadata: { resourceVersion } }),
    );
    const body = [events[0], ...bookmarks].join('');
    const { proxy, client } = await setUp((_, response) => response.end(body));
    proxy.add({ fault: 'watch-event', action: 'own-version', type: 'BOOKMARK', skip: 1 });
    const { text } = await get(client, '/pods?watch=true');
    expect(text.trim().split('\n').map(described)).toEqual(['a 1', ' 9', ' 1']);
  });

  it('moves no bookmark that comes before any event', async () => {
    const bookmark = line('BOOKMARK', { metadata: { resourceVersion: '9' } });
    const { proxy, client } = await setUp((_, response) => response.end(bookmark + events[0]));
    proxy.add({ fault: 'watch-event', action: 'own-version' });
    const { text } = await get(client, '/pods?watch=true');
    expect(text.trim().split('\n').map(described)).toEqual(['a 1']);
  });

  it.each(['{"type":"ADDED"', 'no JSON\n', '\u{fffd}\n'])(
    'passes on what is no event as it is: %j',
    async (tail) => {
      const body = Buffer.concat([Buffer.from(events.join('') + tail), Buffer.of(0xbc)]);
      const { proxy, client } = await setUp((_, response) => response.end(body));
      proxy.add({ fault: 'watch-event', object: 'nobody', action: 'drop' });
      const answer = await client.request({ method: 'GET', path: '/pods?watch=true' });
      expect(Buffer.from(await answer.body.arrayBuffer())).toEqual(body);
    },
  );

  it('leaves other answers alone', async () => {
    const { proxy, client } = await setUp(watching);
    proxy.add({ fault: 'watch-event', action: 'drop' });
    expect((await get(client, '/pods')).text).toBe(events.join(''));
  });
});

function described(text: string): string {
  const { object } = JSON.parse(text) as {
    object: { code?: number; metadata: { name?: string; resourceVersion?: string } };
  };
  return object.code === undefined
    ? `${object.metadata.name ?? ''} ${object.metadata.resourceVersion}`
    : String(object.code);
}
