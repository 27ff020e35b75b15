import { expect, it } from 'vitest';
import { KubeError } from '../../kube/errors.ts';
import { createPerform } from '../../process/effects.ts';
import { createFakeClock } from '../../time/fake-clock.ts';
import { type ConfigObject, statusOf } from '../openstack-config.ts';
import { FakeNotifications } from '../testing/fake-notifications.ts';
import { createStatusWriter } from './writer.ts';

const { signal } = new AbortController();
const cached: ConfigObject = {
  metadata: { namespace: 'n', name: 'osc', uid: 'u', generation: 1, resourceVersion: '5' },
};

function setUp() {
  const events: string[] = [];
  let version = 5;
  let writes = 0;
  let refusal: Error | undefined;
  const writer = createStatusWriter({
    client: {
      applyStatus: (async (_resource: unknown, applied: object) => {
        if (refusal) throw refusal;
        writes += 1;
        version += 1;
        const metadata = { ...cached.metadata, resourceVersion: String(version) };
        return { ...applied, metadata };
      }) as never,
    },
    recorder: { record: (_object, { type, reason }) => void events.push(`${type} ${reason}`) },
    perform: createPerform(() => undefined),
    clock: createFakeClock(),
    notifications: new FakeNotifications(),
    notReady: { note: () => undefined },
  });
  const refuse = (error: Error): void => {
    refusal = error;
  };
  return { writer, events, writes: () => writes, refuse };
}

it('what was written is known before the watch tells of it, and is not written twice', async () => {
  const { writer, writes } = setUp();
  await writer.deliversTo(cached, 'biz-1', signal);
  await writer.deliversTo(cached, 'biz-1', signal);
  await writer.write(cached, { kind: 'refused', troubles: [] }, signal);
  expect(writes()).toBe(2);
  expect(statusOf(writer.latest(cached)).deliveredTo).toEqual(['biz-1']);
});

it('what was written is not believed over a newer object, nor over another of that name', async () => {
  const { writer } = setUp();
  await writer.deliversTo(cached, 'biz-1', signal);
  const { metadata } = cached;
  const newer = { metadata: { ...metadata, resourceVersion: '9' } };
  const other = { metadata: { ...metadata, uid: 'other' } };
  expect([newer, other].map((object) => writer.latest(object))).toEqual([newer, other]);
});

it('people are told of trouble as a warning, of a deletion as none, and not that all is as it was', async () => {
  const { writer, events } = setUp();
  const well = { sent: 0, troubles: [], waiting: [], secretsInSpec: [], unverified: [] };
  await writer.write(cached, { kind: 'synced', ...well }, signal);
  expect(events).toEqual([]);
  const trouble = { reason: 'ConfigError', message: 'spec.vmNames must name a server' } as const;
  await writer.write(cached, { kind: 'refused', troubles: [trouble] }, signal);
  await writer.write(cached, { kind: 'deleting', troubles: [], waiting: ['worker-1'] }, signal);
  expect(events).toEqual(['Warning ConfigError', 'Normal Deleting']);
});

it('what could not be written is no secret, but for an object that is gone', async () => {
  const { writer, refuse } = setUp();
  const write = async () => writer.write(cached, { kind: 'refused', troubles: [] }, signal);
  refuse(new KubeError({ status: 503, reason: 'ServiceUnavailable', message: 'away' }));
  await expect(write()).rejects.toThrow('away');
  refuse(new KubeError({ status: 404, reason: 'NotFound', message: 'gone' }));
  await expect(write()).resolves.toMatchObject({ observedGeneration: 1 });
});

it('an object that was made again under its name is told its trouble as often as any other', async () => {
  const { writer, writes } = setUp();
  const again = async (times: number) => {
    const before = writes();
    for (let n = 0; n < 2 * times; n++) {
      const message = n % 2 === 0 ? 'no ports' : 'no servers';
      const troubles = [{ reason: 'ConfigError', message } as const];
      await writer.write(cached, { kind: 'refused', troubles }, signal);
    }
    return writes() - before;
  };
  expect(await again(5)).toBe(8);
  expect(await again(5)).toBe(0);
  writer.forget('n/osc');
  expect(await again(5)).toBe(8);
});
