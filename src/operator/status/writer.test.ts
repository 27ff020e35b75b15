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
    recorder: { record: () => undefined },
    perform: createPerform(() => undefined),
    clock: createFakeClock(),
    notifications: new FakeNotifications(),
    notReady: { note: () => undefined },
  });
  return { writer, writes: () => writes };
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
