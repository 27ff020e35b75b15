import { describe, expect, test } from 'vitest';
import { createFakeClock, until } from '../../time/fake-clock.ts';
import { configMaps } from '../core-resources.ts';
import { answer, disposeAfterTest, type Script } from '../testing/scripted-server.ts';
import { bench, errorOf, one, ref } from './client-in-test.ts';
import { createKubeClient } from './http-client.ts';

describe('invalid answers', () => {
  test('a missing answer fails with Timeout and closes the connection', async () => {
    let closed = false;
    const { client, server, clock } = await bench(
      ({ socket }) => socket.on('close', () => (closed = true)),
      {
        timeoutMs: 1_000,
      },
    );
    const failed = errorOf(client.get(configMaps, ref));
    await until('the request', () => server.requests.length === 1);
    await clock.advance(1_000);
    expect(await failed).toMatchObject({ status: 0, reason: 'Timeout' });
    await until('the connection to be closed', () => closed);
  });

  test('a trickling answer fails with Timeout', async () => {
    const { client, server, clock } = await bench(
      (_, response) => response.writeHead(200).write('{'),
      {
        timeoutMs: 1_000,
      },
    );
    const failed = errorOf(client.get(configMaps, ref));
    await until('the request', () => server.requests.length === 1);
    await clock.advance(1_000);
    expect(await failed).toMatchObject({ reason: 'Timeout' });
  });

  test('an abort ends the request with the abort reason', async () => {
    const { client, server } = await bench(() => undefined);
    const stop = new AbortController();
    const ended = expect(client.get(configMaps, ref, { signal: stop.signal })).rejects.toThrow(
      'enough',
    );
    await until('the request', () => server.requests.length === 1);
    stop.abort(new Error('enough'));
    await ended;
  });

  test.each([
    ['HTML', (response) => response.end('<html>login</html>')],
    ['truncated JSON', (response) => response.end('{"metadata":')],
    ['an array', (response) => response.end('[]')],
    ['non-UTF-8 bytes', (response) => response.end(Buffer.from([0xff, 0xfe]))],
  ] satisfies [string, (response: Parameters<Script>[1]) => void][])(
    '%s with status 200 fails with InvalidAnswer',
    async (_, send) => {
      const { client, server } = await bench((__, response) => send(response));
      expect(await errorOf(client.get(configMaps, ref))).toMatchObject({
        status: 0,
        reason: 'InvalidAnswer',
      });
      expect(server.requests).toHaveLength(1);
    },
  );

  test('an endless answer fails with AnswerTooLarge at 8 MiB', async () => {
    const megabyte = Buffer.alloc(1024 * 1024, ' ');
    const { client } = await bench((_, response) => {
      const pour = (): void => {
        while (!response.destroyed && response.write(megabyte));
      };
      response.on('drain', pour);
      pour();
    });
    const error = await errorOf(client.get(configMaps, ref));
    expect(error).toMatchObject({ reason: 'AnswerTooLarge' });
    expect(error.message).toContain('larger than 8388608 bytes');
  });

  test('a list page above the limit is requested again with half as many objects', async () => {
    const { client, server } = await bench((request, response) => {
      const limit = Number(request.query.get('limit'));
      const items = Array.from({ length: limit }, (_, n) => ({
        metadata: { name: `map-${n}` },
        data: { text: 'x'.repeat(300_000) },
      }));
      answer(response, 200, { metadata: { resourceVersion: '1', continue: 'rest' }, items });
    });
    const listed = await client.list(configMaps, { limit: 50 });
    expect(listed).toMatchObject({ continue: 'rest', resourceVersion: '1' });
    expect(listed.items).toHaveLength(13);
    expect(server.requests).toHaveLength(3);
  });

  test('a closed port fails with Unreachable and names the request', async () => {
    const clock = createFakeClock();
    const client = createKubeClient({ server: 'http://127.0.0.1:1' }, { clock });
    disposeAfterTest(client);
    const error = await errorOf(client.create(configMaps, { metadata: ref }));
    expect(error).toMatchObject({ status: 0, reason: 'Unreachable' });
    expect(error.message).toMatch(/POST .*ECONNREFUSED/);
  });

  test('an unreadable token file fails the request before sending', async () => {
    const { client, server } = await bench((_, response) => answer(response, 200, one), {
      access: { token: () => Promise.reject(new Error('token file is gone')) },
    });
    const error = await errorOf(client.create(configMaps, { metadata: ref }));
    expect(error.message).toContain('token file is gone');
    expect(server.requests).toEqual([]);
  });
});
