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

/** Returns an object with this name and uid. */
function named(name: string): KubeObject {
  return { ...involved, metadata: { ...involved.metadata, name, uid: name } };
}

/** Creates a recorder over an event server that records writes and responds by `answer`. */
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

/** Starts a period for writing events; `settled` ends it and starts the next. */
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
  test('the recorder writes the fields kubectl describe shows', async () => {
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

  test('the recorder counts repeats for five minutes, then writes the count', async () => {
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

  test('the recorder counts each object and reason separately', async () => {
    const { writes, recorder, settled } = bench();
    recorder.record(involved, note);
    recorder.record(involved, { ...note, reason: 'Other' });
    recorder.record({ ...involved, metadata: { ...involved.metadata, uid: 'u2' } }, note);
    await settled();
    expect(new Set(writes.map(({ name }) => name)).size).toBe(3);
  });

  test('the recorder creates a new event when the API server has deleted the old one', async () => {
    let isDeleted = false;
    const { writes, clock, recorder, errors, settled } = bench(async () => {
      if (isDeleted && writes.at(-1)?.verb === 'patch') {
        throw new KubeError({ status: 404, reason: 'NotFound', message: 'gone' });
      }
    });
    recorder.record(involved, note);
    await clock.advance(3_600_000);
    isDeleted = true;
    recorder.record(involved, note);
    await settled();
    expect(writes.map(({ verb }) => verb)).toEqual(['create', 'patch', 'create']);
    expect([writes[2]?.body['count'], errors]).toEqual([2, []]);
    expect(writes[2]?.name).not.toBe(writes[0]?.name);
  });

  test('a restarted process writes no duplicate event within five minutes', async () => {
    const existing = new Set<string>();
    const { writes, clock, recorder, settled } = bench(async () => {
      const { verb, name } = writes.at(-1) ?? { verb: '', name: '' };
      if (verb === 'create' && existing.has(name)) {
        throw new KubeError({ status: 409, reason: 'AlreadyExists', message: 'there' });
      }
      existing.add(name);
    });
    for (let n = 0; n < 100; n++) recorder.record(involved, { ...note, reason: `Reason${n % 2}` });
    await settled();
    await clock.advance(60_000);
    const next = createEventRecorder({
      client: {
        create: async (_: unknown, { metadata }: KubeObject) => {
          if (existing.has(metadata.name)) {
            throw new KubeError({ status: 409, reason: 'AlreadyExists', message: 'there' });
          }
          existing.add(metadata.name);
        },
      } as unknown as Pick<KubeClient, 'create' | 'patch'>,
      component: 'multinic-test',
      clock,
    });
    const second = term(next);
    for (let n = 0; n < 100; n++) next.record(involved, { ...note, reason: `Reason${n % 2}` });
    await second.settled();
    expect(existing.size).toBe(2);
    await clock.advance(300_000);
    const third = createEventRecorder({
      client: {
        create: async (_: unknown, { metadata }: KubeObject) => existing.add(metadata.name),
      } as unknown as Pick<KubeClient, 'create' | 'patch'>,
      component: 'multinic-test',
      clock,
    });
    const last = term(third);
    third.record(involved, { ...note, reason: 'Reason0' });
    await last.settled();
    expect(existing.size).toBe(3);
  });

  test('a failed write is reported and never thrown', async () => {
    const { errors, recorder, settled } = bench(() => Promise.reject(new Error('away')));
    recorder.record(involved, note);
    await settled();
    expect(errors).toEqual([new Error('away')]);
  });

  test('the recorder retries an event after a 503', async () => {
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

  test('an event written with a lost answer is not duplicated', async () => {
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
    [403, 1], // from a quota, or in a namespace being deleted: no quick retry
    [422, 1],
  ])('status %d leads to %d write attempts within a minute', async (status, tries) => {
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

  test('a thousand events are all written, at most eight at a time', async () => {
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

  test('an event that waits longer than five minutes is written once, with its latest message', async () => {
    const answer = Promise.withResolvers<void>();
    const { writes, clock, recorder, settled } = bench(() => answer.promise);
    const names = Array.from({ length: 9 }, (_, n) => `w-${n}`);
    for (const name of names) recorder.record(named(name), note);
    await clock.advance(301_000);
    recorder.record(named('w-8'), { ...note, message: 'still broken' });
    answer.resolve();
    await settled();
    expect(writes.map(({ body }) => (body['involvedObject'] as { name: string }).name)).toEqual(
      names,
    );
    expect(writes.at(-1)?.body).toMatchObject({ count: 2, message: 'still broken' });
  });

  test('the recorder drops and reports events above ten thousand waiting', async () => {
    const unavailable = Promise.withResolvers<void>();
    const { errors, recorder, settled } = bench(() => unavailable.promise);
    for (let i = 0; i < 10_010; i++) recorder.record(involved, { ...note, reason: `Reason${i}` });
    expect(errors).toHaveLength(2);
    expect(String(errors[0])).toContain('event Reason10008 of ns/one dropped');
    unavailable.resolve();
    await settled();
  });

  test('the recorder remembers up to ten thousand series and writes no repeats', async () => {
    const { writes, recorder, settled } = bench();
    for (let round = 0; round < 2; round++) {
      for (let i = 0; i < 1_100; i++) recorder.record(involved, { ...note, reason: `Reason${i}` });
      await settled();
    }
    expect(writes).toHaveLength(1_100);
  });

  test('a lost lease aborts running event writes and discards new events', async () => {
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
    expect(errors).toContain('Error: 20 events not written before the end of the leadership term');
  });

  test('an orderly stop writes remaining events for up to five seconds', async () => {
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

  test('the recorder writes nothing while this process does not lead', async () => {
    const { writes, recorder, lease, settled } = bench();
    await settled();
    lease.abort(new LeaseLostError('other holds it'));
    recorder.record(involved, note);
    await settled();
    expect(writes).toEqual([]);
  });
});
