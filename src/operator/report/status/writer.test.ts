import { expect, it } from 'vitest';
import { KubeError } from '../../../kube/errors.ts';
import { createPerform } from '../../../process/effects.ts';
import { createFakeClock } from '../../../time/fake-clock.ts';
import { ConfigMemories } from '../../model/memory/config-memory.ts';
import { latestObject } from '../../model/memory/latest-object.ts';
import { type ConfigObject, statusOf } from '../../model/openstack-config.ts';
import { FakeNotifications } from '../../testing/fake-notifications.ts';
import { createStatusWriter } from './writer.ts';

const { signal } = new AbortController();
const cached: ConfigObject = {
  metadata: { namespace: 'n', name: 'osc', uid: 'u', generation: 1, resourceVersion: '5' },
};

const next = () => ({ ms: 15_000, at: undefined });

function setUp() {
  const events: string[] = [];
  const clock = createFakeClock();
  const memories = new ConfigMemories({ clock, random: Math.random, clouds: [], others: [] });
  const contextOf = (object: ConfigObject) => ({ object, memory: memories.of(object) });
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
    clock,
    notifications: new FakeNotifications(),
  });
  const refuse = (error: Error): void => {
    refusal = error;
  };
  return { writer, events, writes: () => writes, refuse, memories, contextOf };
}

it('StatusWriter uses a written status before the watch returns the status, and does not write twice', async () => {
  const { writer, writes, contextOf } = setUp();
  const context = contextOf(cached);
  await writer.prepare(context, { providerId: 'biz-1' }, signal);
  await writer.prepare(context, { providerId: 'biz-1' }, signal);
  await writer.write(context, { ending: { kind: 'refused', problems: [] }, next }, signal);
  expect(writes()).toBe(2);
  expect(statusOf(latestObject(context)).deliveredTo).toEqual(['biz-1']);
});

it('latestObject ignores a written status for a newer object, and for an object with the same name and a new uid', async () => {
  const { writer, contextOf } = setUp();
  await writer.prepare(contextOf(cached), { providerId: 'biz-1' }, signal);
  const { metadata } = cached;
  const newer = { metadata: { ...metadata, resourceVersion: '9' } };
  const other = { metadata: { ...metadata, uid: 'other' } };
  const latest = [newer, other].map((object) => latestObject(contextOf(object)));
  expect(latest).toEqual([newer, other]);
});

it('StatusWriter records a Warning event for a problem, a Normal event for a deletion, and none for an unchanged status', async () => {
  const { writer, events, contextOf } = setUp();
  const context = contextOf(cached);
  const well = { sent: 0, problems: [], waiting: [], secretsInSpec: [], unverified: [] };
  await writer.write(context, { ending: { kind: 'synced', ...well }, next }, signal);
  expect(events).toEqual([]);
  const problem = { reason: 'ConfigError', message: 'spec.vmNames must name a server' } as const;
  await writer.write(context, { ending: { kind: 'refused', problems: [problem] }, next }, signal);
  await writer.write(
    context,
    { ending: { kind: 'deleting', problems: [], waiting: ['worker-1'] }, next },
    signal,
  );
  expect(events).toEqual(['Warning ConfigError', 'Normal Deleting']);
});

it('StatusWriter throws when a status write fails, unless the object is gone', async () => {
  const { writer, refuse, contextOf } = setUp();
  const write = async () =>
    writer.write(contextOf(cached), { ending: { kind: 'refused', problems: [] }, next }, signal);
  refuse(new KubeError({ status: 503, reason: 'ServiceUnavailable', message: 'away' }));
  await expect(write()).rejects.toThrow('away');
  refuse(new KubeError({ status: 404, reason: 'NotFound', message: 'gone' }));
  await expect(write()).resolves.toBe(15_000);
});

it('flap damping restarts for a recreated object', async () => {
  const { writer, writes, memories, contextOf } = setUp();
  const again = async (times: number) => {
    const before = writes();
    for (let n = 0; n < 2 * times; n++) {
      const message = n % 2 === 0 ? 'no ports' : 'no servers';
      const problems = [{ reason: 'ConfigError', message } as const];
      await writer.write(
        contextOf(cached),
        { ending: { kind: 'refused', problems }, next },
        signal,
      );
    }
    return writes() - before;
  };
  expect(await again(5)).toBe(8);
  expect(await again(5)).toBe(0);
  memories.drop('n/osc');
  expect(await again(5)).toBe(8);
});
