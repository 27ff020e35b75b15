import { describe, expect, test } from 'vitest';
import { createFakeClock } from '../time/fake-clock.ts';
import type { KubeClient } from './client/client.ts';
import { KubeError } from './errors.ts';
import { createEventRecorder, type EventRecorder } from './events.ts';
import { LeaseLostError } from './lease/lease-lock.ts';
import type { KubeObject } from './object.ts';

const involved: KubeObject = {
  apiVersion: 'multinic.example.com/v1',
  kind: 'Widget',
  metadata: { namespace: 'ns', name: 'one', uid: 'u1', resourceVersion: '7' },
};
const note = { type: 'Warning', reason: 'Broken', message: 'it broke' } as const;

/** A server for events: notes what is written and answers as `answer` says. */
function bench(answer: () => Promise<void> = () => Promise.resolve()) {
  const writes: { verb: string; name: string; body: Record<string, unknown> }[] = [];
  const write = async (verb: string, name: string, body: unknown) => {
    writes.push({ verb, name, body: body as Record<string, unknown> });
    await answer();
    return body;
  };
  const client = {
    create: (_: unknown, object: KubeObject) => write('create', object.metadata.name, object),
    patch: (_: unknown, ref: { name: string }, patch: unknown) => write('patch', ref.name, patch),
  } as unknown as Pick<KubeClient, 'create' | 'patch'>;
  const clock = createFakeClock();
  const errors: unknown[] = [];
  const recorder = createEventRecorder({
    client,
    component: 'multinic-test',
    clock,
    onError: (error) => errors.push(error),
  });
  return { writes, clock, errors, recorder, ...term(recorder) };
}

/** A time in which events may be written; `settled` ends it, and begins the next one. */
function term(recorder: EventRecorder) {
  const lease = new AbortController();
  let work = Promise.withResolvers<void>();
  let ended = recorder.during(lease.signal, () => work.promise);
  const settled = async (): Promise<void> => {
    work.resolve();
    await ended;
    work = Promise.withResolvers();
    ended = recorder.during(lease.signal, () => work.promise);
  };
  return { lease, settled };
}

describe('event recorder', () => {
  test('writes what kubectl describe shows', async () => {
    const { writes, recorder, settled } = bench();
    recorder.record(involved, note);
    await settled();
    expect(writes[0]?.name).toMatch(/^one\.[0-9a-f]+$/);
    expect(writes[0]?.body).toMatchObject({
      metadata: { namespace: 'ns' },
      involvedObject: {
        apiVersion: 'multinic.example.com/v1',
        kind: 'Widget',
        namespace: 'ns',
        name: 'one',
        uid: 'u1',
        resourceVersion: '7',
      },
      ...note,
      source: { component: 'multinic-test' },
      count: 1,
      firstTimestamp: '2026-01-01T00:00:00Z',
      lastTimestamp: '2026-01-01T00:00:00Z',
    });
  });

  test('counts for five minutes and then writes the count', async () => {
    const { writes, clock, recorder, settled } = bench();
    for (let minute = 0; minute < 5; minute++) {
      recorder.record(involved, { ...note, message: `minute ${minute}` });
      await clock.advance(60_000);
    }
    expect(writes).toHaveLength(1);
    recorder.record(involved, { ...note, message: 'minute 5' });
    await settled();
    expect(writes[1]).toEqual({
      verb: 'patch',
      name: writes[0]?.name,
      body: { count: 6, lastTimestamp: '2026-01-01T00:05:00Z', message: 'minute 5' },
    });
  });

  test('counts each object and each reason on its own', async () => {
    const { writes, recorder, settled } = bench();
    recorder.record(involved, note);
    recorder.record(involved, { ...note, reason: 'Other' });
    recorder.record({ ...involved, metadata: { ...involved.metadata, uid: 'u2' } }, note);
    await settled();
    expect(new Set(writes.map(({ name }) => name)).size).toBe(3);
  });

  test('begins anew when the server has forgotten the event', async () => {
    let forgotten = false;
    const { writes, clock, recorder, errors, settled } = bench(async () => {
      if (forgotten && writes.at(-1)?.verb === 'patch') {
        throw new KubeError({ status: 404, reason: 'NotFound', message: 'gone' });
      }
    });
    recorder.record(involved, note);
    await clock.advance(3_600_000);
    forgotten = true;
    recorder.record(involved, note);
    await settled();
    expect(writes.map(({ verb }) => verb)).toEqual(['create', 'patch', 'create']);
    expect([writes[2]?.body['count'], errors]).toEqual([2, []]);
    expect(writes[2]?.name).not.toBe(writes[0]?.name);
  });

  test('says nothing again that a process before it has just said, and what is new in any order', async () => {
    const there = new Set<string>();
    const { writes, clock, recorder, settled } = bench(async () => {
      const { verb, name } = writes.at(-1) ?? { verb: '', name: '' };
      if (verb === 'create' && there.has(name)) {
        throw new KubeError({ status: 409, reason: 'AlreadyExists', message: 'there' });
      }
      there.add(name);
    });
    for (let n = 0; n < 100; n++) recorder.record(involved, { ...note, reason: `Reason${n % 2}` });
    await settled();
    await clock.advance(60_000);
    const next = createEventRecorder({
      client: {
        create: async (_: unknown, { metadata }: KubeObject) => {
          if (there.has(metadata.name)) {
            throw new KubeError({ status: 409, reason: 'AlreadyExists', message: 'there' });
          }
          there.add(metadata.name);
        },
      } as unknown as Pick<KubeClient, 'create' | 'patch'>,
      component: 'multinic-test',
      clock,
    });
    const second = term(next);
    for (let n = 0; n < 100; n++) next.record(involved, { ...note, reason: `Reason${n % 2}` });
    await second.settled();
    expect(there.size).toBe(2);
    await clock.advance(300_000);
    const third = createEventRecorder({
      client: {
        create: async (_: unknown, { metadata }: KubeObject) => there.add(metadata.name),
      } as unknown as Pick<KubeClient, 'create' | 'patch'>,
      component: 'multinic-test',
      clock,
    });
    const last = term(third);
    third.record(involved, { ...note, reason: 'Reason0' });
    await last.settled();
    expect(there.size).toBe(3);
  });

  test('an event about a cluster-wide object goes to the namespace default', async () => {
    const { writes, recorder, settled } = bench();
    recorder.record({ kind: 'Node', metadata: { name: 'n1', uid: 'u' } }, note);
    await settled();
    expect(writes[0]?.body).toMatchObject({ metadata: { namespace: 'default' } });
  });

  test('a failure is reported and never thrown', async () => {
    const { errors, recorder, settled } = bench(() => Promise.reject(new Error('away')));
    recorder.record(involved, note);
    await settled();
    expect(errors).toEqual([new Error('away')]);
  });

  test('names and messages fit into what the server takes', async () => {
    const { writes, recorder, settled } = bench();
    const name = `${'a'.repeat(199)}.${'b'.repeat(50)}`;
    recorder.record(
      { ...involved, metadata: { ...involved.metadata, name } },
      { ...note, message: 'x'.repeat(5_000) },
    );
    await settled();
    expect(writes[0]?.name).toMatch(/^a{199}\.[0-9a-f]+$/);
    expect(String(writes[0]?.body['message'])).toHaveLength(1_024);
  });

  test('a message is a text for terminals, whatever it quotes', async () => {
    const { writes, recorder, settled } = bench();
    const message = `server "\u001b[2Jworker\r\n1" ${'x'.repeat(999)}🔌`;
    recorder.record(involved, { ...note, message });
    await settled();
    const written = String(writes[0]?.body['message']);
    expect(written).toMatch(/^server " \[2Jworker {2}1" x+/);
    expect([written.length, written.isWellFormed()]).toEqual([1_024, true]);
  });

  test('one that the server could not take is written later', async () => {
    let busy = 2;
    const { writes, clock, errors, recorder } = bench(async () => {
      if (busy-- > 0) throw new KubeError({ status: 503, reason: 'Busy', message: 'busy' });
    });
    recorder.record(involved, note);
    await clock.advance(60_000);
    expect([writes.length, errors]).toEqual([3, []]);
    expect(new Set(writes.map(({ name }) => name)).size).toBe(1);
    expect(clock.waits).toEqual([]);
  });

  test('one that was written although its answer was lost is written once', async () => {
    let tries = 0;
    const { writes, clock, errors, recorder, settled } = bench(async () => {
      if (++tries === 1) throw new KubeError({ status: 0, reason: 'Unreachable', message: 'lost' });
      if (tries === 2) throw new KubeError({ status: 409, reason: 'AlreadyExists', message: 'it' });
    });
    recorder.record(involved, note);
    await clock.advance(300_000);
    recorder.record(involved, note);
    await settled();
    expect(errors).toEqual([]);
    expect(writes.map(({ verb }) => verb)).toEqual(['create', 'create', 'patch']);
    expect(new Set(writes.map(({ name }) => name)).size).toBe(1);
  });

  test.each([
    [429, 2],
    [500, 2],
    [403, 1], // of a quota, or in a namespace that is going: not so soon
    [422, 1],
  ])('an answer %d costs %d tries within seconds', async (status, tries) => {
    let first = true;
    const { writes, clock, recorder } = bench(async () => {
      if (first) {
        first = false;
        throw new KubeError({ status, reason: 'No', message: 'no' });
      }
    });
    recorder.record(involved, note);
    await clock.advance(60_000);
    expect(writes).toHaveLength(tries);
  });

  test('a thousand at once are all written, a few at a time', async () => {
    const clock = createFakeClock();
    let [writing, most, written] = [0, 0, 0];
    const create = async (): Promise<unknown> => {
      most = Math.max(most, ++writing);
      await clock.sleep(10);
      writing--;
      written++;
      return involved;
    };
    const client = { create } as unknown as Pick<KubeClient, 'create' | 'patch'>;
    const recorder = createEventRecorder({ client, component: 'multinic-test', clock });
    const { settled } = term(recorder);
    for (let i = 0; i < 1_000; i++) recorder.record(involved, { ...note, reason: `Reason${i}` });
    await clock.advance(10_000);
    await settled();
    expect([written, most]).toEqual([1_000, 8]);
  });

  test('drops, and says so, what is more than ten thousand', async () => {
    const away = Promise.withResolvers<void>();
    const { errors, recorder, settled } = bench(() => away.promise);
    for (let i = 0; i < 10_010; i++) recorder.record(involved, { ...note, reason: `Reason${i}` });
    expect(errors).toHaveLength(2);
    expect(String(errors[0])).toContain('event Reason10008 of ns/one dropped');
    away.resolve();
    await settled();
  });

  test('remembers ten thousand series: so many objects may say the same again and again', async () => {
    const { writes, recorder, settled } = bench();
    for (let round = 0; round < 2; round++) {
      for (let i = 0; i < 1_100; i++) recorder.record(involved, { ...note, reason: `Reason${i}` });
      await settled();
    }
    expect(writes).toHaveLength(1_100);
  });

  test('a leader that lost its lease breaks off what it writes, and writes nothing more', async () => {
    const signals: (AbortSignal | undefined)[] = [];
    const create = (_: unknown, __: unknown, { signal }: { signal?: AbortSignal } = {}) => {
      signals.push(signal);
      return new Promise((_resolve, reject) =>
        signal?.addEventListener('abort', () => reject(signal.reason)),
      );
    };
    const client = { create } as unknown as Pick<KubeClient, 'create' | 'patch'>;
    const errors: string[] = [];
    const recorder = createEventRecorder({
      client,
      component: 'multinic-test',
      clock: createFakeClock(),
      onError: (error) => errors.push(String(error)),
    });
    const { lease, settled } = term(recorder);
    for (let i = 0; i < 20; i++) recorder.record(involved, { ...note, reason: `Reason${i}` });
    lease.abort(new LeaseLostError('other holds it'));
    recorder.record(involved, { ...note, reason: 'Later' });
    await settled();
    expect(signals).toHaveLength(8);
    expect(signals.every((signal) => signal?.aborted)).toBe(true);
    expect(errors).toContain('Error: 20 events are given up');
  });

  test('a process that ends in order writes what is left, for five seconds', async () => {
    const clock = createFakeClock();
    let written = 0;
    const create = async (): Promise<unknown> => {
      await clock.sleep(1_000);
      return written++;
    };
    const client = { create } as unknown as Pick<KubeClient, 'create' | 'patch'>;
    const recorder = createEventRecorder({ client, component: 'multinic-test', clock });
    const { lease, settled } = term(recorder);
    for (let i = 0; i < 100; i++) recorder.record(involved, { ...note, reason: `Reason${i}` });
    lease.abort(new Error('stopped by SIGTERM'));
    const end = settled();
    await clock.advance(5_000);
    await end;
    expect(written).toBeGreaterThanOrEqual(32);
    await clock.advance(60_000);
    expect(written).toBeLessThanOrEqual(40);
  });

  test('nothing is written outside of the time in which this process leads', async () => {
    const { writes, recorder, lease, settled } = bench();
    await settled();
    lease.abort(new LeaseLostError('other holds it'));
    recorder.record(involved, note);
    await settled();
    expect(writes).toEqual([]);
  });
});
