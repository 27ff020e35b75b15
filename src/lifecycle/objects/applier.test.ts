import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type ApiServer, startApiServer } from '../../../rig/apiserver/server.ts';
import type { Effect } from '../../api/effects.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import { createKubeClient } from '../../kube/client/http-client.ts';
import { configMaps, namespaces } from '../../kube/core-resources.ts';
import { createPerform } from '../../process/effects.ts';
import { systemClock } from '../../time/clock.ts';
import { createFakeClock } from '../../time/fake-clock.ts';
import { desired } from '../model/desired.ts';
import { Applier } from './applier.ts';

let api: ApiServer;
let client: KubeClient;
let namespace = '';
let count = 0;
const { signal } = new AbortController();

beforeAll(async () => {
  api = await startApiServer();
  client = createKubeClient(api.access, { clock: systemClock });
});
afterAll(async () => {
  await client[Symbol.asyncDispose]();
  await api.close();
});
beforeEach(async () => {
  namespace = `applier-${++count}`;
  await client.create(namespaces, { metadata: { name: namespace } });
});

/** A lifecycle process whose watches are empty, hence each object is read from the API server. */
function lifecycle() {
  const effects: string[] = [];
  const clock = createFakeClock();
  const perform = createPerform<Effect>(
    (effect, phase) => void (phase === 'before' && effects.push(effect)),
  );
  const live = { find: () => undefined };
  const applier = new Applier({ client, perform, live, clock });
  const ensure = async (key: string, { recovers = true, name = 'a' } = {}) =>
    applier.ensure(desired(configMaps, { metadata: { name, namespace }, data: { key } }), {
      recovers,
      signal,
    });
  return { applier, ensure, effects, clock };
}

const edit = async (data: object, manager = 'kubectl-edit', name = 'a') =>
  client.patch(configMaps, { namespace, name }, { data }, { fieldManager: manager });
const value = async (name = 'a') =>
  (await client.find(configMaps, { namespace, name }))?.data?.['key'];
const lostKey = { paths: ['.data.key'], managers: ['kubectl-edit'] };
const off = { recovers: false };

describe('Applier', () => {
  it('ensure writes differences only', async () => {
    const { ensure, effects } = lifecycle();
    expect(await ensure('1')).toEqual({ ensured: 'created' });
    expect(await ensure('1')).toEqual({ ensured: 'unchanged' });
    await edit({ other: 'x' });
    expect(await ensure('1')).toEqual({ ensured: 'unchanged' });
    expect(await ensure('2')).toEqual({ ensured: 'changed' });
    expect(await ensure('2')).toEqual({ ensured: 'unchanged' });
    expect(effects).toEqual(['lifecycle.object.apply', 'lifecycle.object.apply']);
  });

  it('ensure repairs a changed and a deleted object, and returns lost fields and managers', async () => {
    const { ensure } = lifecycle();
    await ensure('1');
    await edit({ key: 'evil' });
    expect(await ensure('1')).toEqual({ ensured: 'repaired', lost: lostKey });
    expect(await value()).toBe('1');
    await client.delete(configMaps, { namespace, name: 'a' });
    expect(await ensure('1')).toMatchObject({ ensured: 'repaired', lost: { managers: [] } });
    expect(await value()).toBe('1');
  });

  it('ensure takes over an object created by another client', async () => {
    await client.create(configMaps, { metadata: { name: 'a', namespace }, data: { key: 'old' } });
    expect(await lifecycle().ensure('1')).toEqual({ ensured: 'changed' });
    expect(await value()).toBe('1');
  });

  it.each([
    ['repairs', true, { ensured: 'repaired', lost: lostKey }, '1'],
    ['reports', false, { ensured: 'drifted', lost: lostKey }, 'evil'],
  ])('ensure %s a foreign change made during a downtime', async (_, recovers, ensured, then) => {
    await lifecycle().ensure('1');
    await edit({ key: 'evil' });
    const { ensure } = lifecycle();
    expect(await ensure('1', { recovers })).toEqual(ensured);
    expect(await value()).toBe(then);
  });

  it.each([true, false])(
    'ensure changes nothing after a restart without differences (recovers %s)',
    async (recovers) => {
      await lifecycle().ensure('1');
      const { metadata } = await client.get(configMaps, { namespace, name: 'a' });
      const { ensure, effects } = lifecycle();
      for (let time = 0; time < 3; time++) {
        expect(await ensure('1', { recovers })).toEqual({ ensured: 'unchanged' });
      }
      expect(effects).toHaveLength(recovers ? 1 : 0);
      const after = await client.get(configMaps, { namespace, name: 'a' });
      expect(after.metadata.resourceVersion).toBe(metadata.resourceVersion);
    },
  );

  it('ensure reports drift while recovery is off, and writes a changed spec', async () => {
    const { ensure, effects } = lifecycle();
    await ensure('1', off);
    await edit({ key: 'evil' });
    for (let time = 0; time < 2; time++) {
      expect(await ensure('1', off)).toEqual({ ensured: 'drifted', lost: lostKey });
    }
    expect(await ensure('1')).toMatchObject({ ensured: 'repaired' });
    await client.delete(configMaps, { namespace, name: 'a' });
    expect(await ensure('1', off)).toMatchObject({ ensured: 'drifted' });
    expect(await ensure('2', off)).toEqual({ ensured: 'created' });
    expect(effects).toHaveLength(3);
  });

  it('ensure backs off from the sixth repair of a field, while other objects are repaired', async () => {
    const { ensure, clock } = lifecycle();
    await ensure('1');
    await ensure('1', { name: 'b' });
    for (let repair = 0; repair < 5; repair++) {
      await edit({ key: `evil ${repair}` });
      expect(await ensure('1')).toMatchObject({ ensured: 'repaired' });
    }
    await edit({ key: 'evil' });
    expect(await ensure('1')).toEqual({ ensured: 'contested', lost: lostKey, waitMs: 10_000 });
    expect(await value()).toBe('evil');
    await edit({ key: 'evil' }, 'kubectl-edit', 'b');
    expect(await ensure('1', { name: 'b' })).toMatchObject({ ensured: 'repaired' });
    await clock.advance(10_000);
    expect(await ensure('1')).toMatchObject({ ensured: 'repaired' });
    await edit({ key: 'evil' });
    expect(await ensure('1')).toMatchObject({ ensured: 'contested', waitMs: 20_000 });
    expect(await ensure('2')).toEqual({ ensured: 'changed' });
  });

  it('ensure recreates a removed object as new', async () => {
    const { applier, ensure } = lifecycle();
    await ensure('1');
    await applier.remove({ resource: configMaps, ref: { namespace, name: 'a' } }, signal);
    await applier.remove({ resource: configMaps, ref: { namespace, name: 'a' } }, signal);
    expect(await ensure('1')).toEqual({ ensured: 'created' });
  });

  it('ensure waits for an object in deletion', async () => {
    const { ensure } = lifecycle();
    await ensure('1');
    const ref = { namespace, name: 'a' };
    await client.patch(configMaps, ref, { metadata: { finalizers: ['example.com/wait'] } });
    await client.delete(configMaps, ref);
    expect(await ensure('1')).toEqual({ ensured: 'unchanged' });
    await client.patch(configMaps, ref, { metadata: { finalizers: [] } });
    expect(await ensure('1')).toMatchObject({ ensured: 'repaired' });
  });
});
