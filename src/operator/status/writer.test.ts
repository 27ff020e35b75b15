import { expect, it } from 'vitest';
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
  const writer = createStatusWriter({
    client: {
      applyStatus: (async (_resource: unknown, applied: object) => {
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
  return { writer, events, writes: () => writes };
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
