import type { ServerResponse } from 'node:http';
import { describe, expect, test } from 'vitest';
import { until } from '../../time/fake-clock.ts';
import {
  bench,
  ending,
  item,
  listed,
  type Reply,
  refused,
  silent,
  streaming,
} from '../testing/reflector-bench.ts';
import { line } from '../testing/scripted-server.ts';

describe('reflector with faults', () => {
  test('a lost connection is resumed, and replayed events are ignored', async () => {
    const events = [line('ADDED', item('a', 8)), line('MODIFIED', item('a', 9))];
    const drop: Reply = (response) => {
      response.write(events.join(''), () => response.destroy());
    };
    const replay = streaming(...events, line('DELETED', item('a', 10)));
    const { log, pass, versions, counts } = await bench({
      lists: [listed(7)],
      watches: [drop, replay],
    });
    await pass(800);
    await until('the deletion', () => log.length === 3);
    expect(log).toEqual(['added a 8', 'updated a 9', 'deleted a 9']);
    expect([versions, counts.lists]).toEqual([['7', '9'], 1]);
  });

  test('a deleted object does not return through replayed events', async () => {
    const before = [line('ADDED', item('a', 8)), line('DELETED', item('a', 9))];
    const { log } = await bench({
      lists: [listed(7)],
      watches: [ending(...before), streaming(...before, line('ADDED', item('b', 10)))],
    });
    await until('the last event', () => log.includes('added b 10'));
    expect(log).toEqual(['added a 8', 'deleted a 8', 'added b 10']);
  });

  test.each([
    ['as the watch response', refused(410)],
    [
      'inside the stream',
      streaming(line('ERROR', { code: 410, reason: 'Expired', message: 'old' })),
    ],
  ])('status 410 %s triggers a relist that finds deleted objects', async (_, gone) => {
    const { log, pass, versions } = await bench({
      lists: [listed(7, item('a', 3), item('b', 4)), listed(30, item('b', 25))],
      watches: [gone, silent],
    });
    await pass(800);
    await until('the second list', () => log.length === 4);
    expect(log).toEqual(['added a 3', 'added b 4', 'updated b 25', 'deleted a 3']);
    await until('the second watch', () => versions.length === 2);
    expect(versions).toEqual(['7', '30']);
  });

  test('an unavailable server is polled with growing pauses, and quickly again after a success', async () => {
    const healthy = ending(line('ADDED', item('a', 8)));
    const { pass, counts, errors, log } = await bench({
      lists: [listed(7)],
      watches: [refused(503), refused(503), refused(503), healthy, refused(503), silent],
    });
    for (const ms of [800, 1_600, 3_200, 800]) await pass(ms);
    await until('the last watch', () => counts.watches === 6);
    expect(log).toEqual(['added a 8']);
    expect(errors.map((error) => error.replace(/.* \| /, ''))).toEqual([
      '800',
      '1600',
      '3200',
      '800',
    ]);
  });

  test('repeated cuts in a quiet watch do not lengthen the pauses', async () => {
    const cut: ServerResponse[] = [];
    const { clock, pass, counts } = await bench({
      lists: [listed(7)],
      watches: [
        (response) => {
          cut.push(response);
          response.flushHeaders();
        },
      ],
    });
    for (let round = 1; round <= 3; round++) {
      await until('the guard', () => counts.watches === round && clock.waits.includes(30_000));
      await clock.advance(15_000);
      cut.at(-1)?.destroy();
      await pass(800);
    }
  });

  test("a retry waits as long as the API server's Retry-After", async () => {
    const { pass, counts } = await bench({
      lists: [listed(7)],
      watches: [refused(429, { 'retry-after': '9' }), silent],
    });
    await pass(9_000);
    await until('the second watch', () => counts.watches === 2);
  });

  test('a failed list is retried', async () => {
    const { pass, reflector, store } = await bench({
      lists: [refused(500), listed(7, item('a', 3))],
      watches: [silent],
    });
    await pass(800);
    await reflector.synced;
    expect(store.size).toBe(1);
  });

  test('a stream cut within an event resumes from the previous event', async () => {
    const { pass, log, versions } = await bench({
      lists: [listed(7)],
      watches: [
        ending(line('ADDED', item('a', 8)), '{"type":"MODIFIED","object":{"metad'),
        streaming(line('MODIFIED', item('a', 9))),
      ],
    });
    await pass(800);
    await until('the event', () => log.length === 2);
    expect([log, versions]).toEqual([
      ['added a 8', 'updated a 9'],
      ['7', '8'],
    ]);
  });

  test.each([
    ['after its headers', silent],
    ['before its headers', () => undefined],
    ['after an event', streaming(line('ADDED', item('a', 8)))],
  ] satisfies [string, Reply][])(
    'a connection silent %s is replaced within 35 s',
    async (_, reply) => {
      const { clock, counts, log, reflector } = await bench({
        lists: [listed(7)],
        watches: [reply, streaming(line('ADDED', item('b', 9)))],
      });
      await until('the guard', () => counts.watches === 1 && clock.waits.includes(30_000));
      await until(
        'what came before',
        () => reply === silent || reply.length === 0 || log.length === 1,
      );
      await clock.advance(30_000);
      await until('the pause', () => reflector.state === 'waiting');
      await clock.advance(5_000);
      await until('the event of the next watch', () => log.includes('added b 9'));
    },
  );
});
