import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { KubeError } from '../kube/errors.ts';
import { RequestError } from '../requests/request-error.ts';
import {
  attach,
  delivered,
  environment,
  type Scene,
  serverIds,
  setScene,
} from './testing/scene.ts';

let scene: Scene;

beforeEach(async () => {
  scene = await setScene();
});

afterEach(async () => scene[Symbol.asyncDispose]());

describe('annotations on an OpenstackConfig', () => {
  it('a new reconcile-at value posts every node once, changed or not', async () => {
    await delivered(scene);
    scene.kube.annotate({ 'multinic.io/reconcile-at': '1700000000' });
    await scene.look();
    await scene.look();
    expect(scene.viola.posts.map((nodes) => nodes.length)).toEqual([2, 2]);
    expect(scene.status().lastHandledReconcileAt).toBe('1700000000');
    expect(scene.ready()).toBe('True NoChange: no changes detected');
  });

  it('a new force-reconcile value posts every node', async () => {
    await delivered(scene);
    scene.kube.annotate({ 'multinic.example.com/force-reconcile': 'now' });
    await scene.look();
    expect(scene.viola.posts).toHaveLength(2);
  });

  it('a reconcile-at value with 400 characters is handled once, and the status stays writable', async () => {
    await delivered(scene);
    const long = 'x'.repeat(400);
    scene.kube.annotate({ 'multinic.io/reconcile-at': long });
    await scene.look();
    await scene.look();
    expect(scene.viola.posts).toHaveLength(2);
    scene.kube.annotate({ 'multinic.io/reconcile-at': `${long}y` });
    await scene.look();
    expect(scene.viola.posts).toHaveLength(3);
    expect(scene.status().lastHandledReconcileAt?.length).toBeLessThanOrEqual(253);
    expect(scene.status().deliveredTo).toEqual(['biz-1']);
  });

  it('a new reconcile-at value lists ports again, even right after a list', async () => {
    scene.create();
    await scene.look();
    const lists = () => scene.cloud.log.filter((call) => call.startsWith('portsOf')).length;
    await scene.look(1_000);
    expect(lists()).toBe(1);
    scene.kube.annotate({ 'multinic.io/reconcile-at': 'now' });
    await scene.look(1_000);
    expect(lists()).toBe(2);
  });

  it('a paused OpenstackConfig sends nothing until the annotation is false', async () => {
    scene.create({}, { annotations: { 'multinic.io/paused': 'true' } });
    attach(scene.cloud, 1, 1);
    expect(await scene.look()).toBeUndefined();
    expect([scene.cloud.calls, scene.viola.posts.length]).toEqual([0, 0]);
    expect(scene.condition('Paused')?.status).toBe('True');
    expect(scene.condition('Ready')).toMatchObject({ status: 'Unknown', reason: 'Paused' });
    scene.kube.annotate({ 'multinic.io/paused': 'false' });
    await scene.look();
    expect(scene.nics('worker-1')).toEqual(['multinic0=p1']);
    expect(scene.condition('Paused')).toBeUndefined();
  });

  it.each([
    ['True', true],
    [' TRUE ', true],
    ['yes', true],
    ['1', true],
    ['2026-11-26', true],
    ['', false],
    ['False', false],
  ])('[W20] multinic.io/paused "%s" pauses: %s', async (value, isPaused) => {
    scene.create({}, { annotations: { 'multinic.io/paused': value } });
    attach(scene.cloud, 1, 1);
    await scene.look();
    expect(scene.viola.posts.length).toBe(isPaused ? 0 : 1);
    expect(scene.condition('Ready')?.status).toBe(isPaused ? 'Unknown' : 'True');
    const { message = '' } = scene.condition('Paused') ?? {};
    const isClear = /^(true|false|)$/i.test(value.trim());
    expect(message.includes(`"${value}"`)).toBe(!isClear);
  });

  it('a paused OpenstackConfig removes its nodes when deleted', async () => {
    attach(scene.cloud, 1, 1);
    scene.create();
    await scene.look();
    scene.kube.annotate({ 'multinic.io/paused': 'true' });
    await scene.look();
    scene.kube.delete();
    await scene.look();
    expect(scene.viola.removals).toEqual(['worker-1']);
    scene.viola.clean();
    await scene.look();
    expect(scene.object()).toBeUndefined();
  });
});

it('a deleted OpenstackConfig gets no delivery, even before the watch reports the deletion', async () => {
  attach(scene.cloud, 1, 1);
  scene.create({}, { finalizers: ['multinic.example.com/cleanup'] });
  const gone = { status: 404, reason: 'NotFound', message: 'not found' } as const;
  scene.kube.applyStatus = async () => Promise.reject(new KubeError(gone));
  await expect(scene.look()).rejects.toThrow('not found');
  expect(scene.viola.posts).toEqual([]);
});

describe('spec fields', () => {
  it('invalid fields are all named in Ready, and no request is sent', async () => {
    scene.create({ settings: { addressFamilies: [], pollFastInterval: '1ms' }, vmNames: [''] });
    await scene.look();
    expect(scene.ready()).toContain(
      'False ConfigError: spec.settings.addressFamilies is empty; use [IPv4], [IPv6] or both',
    );
    expect(scene.ready()).toContain('spec.vmNames[0] is blank');
    expect(scene.ready()).toContain('spec.settings.pollFastInterval "1ms" is too short');
    expect(scene.condition('Stalled')).toMatchObject({ status: 'True', reason: 'ConfigError' });
    expect(scene.clouds.requests).toEqual([]);
  });

  it('fields admitted by an API server without our schema are named in Ready', async () => {
    scene.kube.create({ subnetIDs: 'sub-a', vmNames: serverIds, credentials: {} }, {});
    await scene.look();
    expect(scene.ready()).toContain('False ConfigError: spec.subnetIDs');
  });

  it('a spec without subnets is SubnetRequired', async () => {
    scene.create({ subnetIDs: [] });
    await scene.look();
    expect(scene.ready()).toBe(
      'False SubnetRequired: subnetIDs, subnetID or subnetName is required',
    );
  });

  it('a subnet name selects a subnet only if exactly one subnet has the name', async () => {
    attach(scene.cloud, 1, 1);
    scene.create({ subnetIDs: [], subnetName: 'subnet-a' });
    await scene.look();
    expect(scene.nics('worker-1')).toEqual(['multinic0=p1']);
    scene.edit({ subnetIDs: [], subnetName: 'nowhere' });
    await scene.look();
    expect(scene.ready()).toContain('False SubnetNotFound: subnet not found');
    expect(scene.nics('worker-1')).toEqual(['multinic0=p1']);
    scene.cloud.subnets = scene.cloud.subnets.map((subnet) => ({ ...subnet, name: 'same' }));
    scene.edit({ subnetIDs: [], subnetName: 'same' });
    await scene.look();
    expect(scene.ready()).toContain(
      'False SubnetNotUnique: multiple subnets matched; use subnetIDs or subnetID',
    );
  });
});

describe('the requeue delay', () => {
  it('the requeue delay is short after creation, edit and change, and long without changes', async () => {
    scene.create();
    expect(await scene.look()).toBe(20_000);
    expect(await scene.look(180_000)).toBe(120_000);
    attach(scene.cloud, 1, 1);
    expect(await scene.look(120_000)).toBe(20_000);
    expect(await scene.look(180_000)).toBe(120_000);
    scene.edit({ subnetIDs: ['sub-b', 'sub-a'] });
    expect(await scene.look()).toBe(20_000);
  });

  it.each([
    [
      'a node that Viola refuses',
      () => void scene.viola.refused.set('worker-2', 'FieldConflict'),
      'ViolaPostError',
    ],
    [
      'a network without MTU',
      () => {
        const [first] = scene.cloud.networks;
        scene.cloud.networks = first ? [{ ...first, mtu: undefined }] : [];
      },
      'NeutronPortError',
    ],
  ])('the requeue delay does not grow with %s', async (_what, breakIt, reason) => {
    attach(scene.cloud, 2, 2);
    breakIt();
    scene.create();
    for (let n = 0; n < 4; n++) expect(await scene.look()).toBe(20_000);
    expect(scene.ready()).toContain(`False ${reason}`);
  });

  it('the requeue delay is at most five minutes, even with a Retry-After of one week', async () => {
    await delivered(scene);
    const week = { service: 'viola', kind: 'rateLimited', retryAfterMs: 7 * 86_400_000 } as const;
    scene.viola.outage = new RequestError('busy', week);
    expect(await scene.look()).toBe(300_000);
  });

  it.each([
    ['429', { kind: 'rateLimited', status: 429 }, [30_000, 60_000, 120_000, 240_000]],
    ['503', { kind: 'serverError', status: 503 }, [30_000, 60_000, 120_000, 240_000]],
    [
      '429 with Retry-After',
      { kind: 'rateLimited', status: 429, retryAfterMs: 1_000 },
      [30_000, 60_000, 60_000, 60_000],
    ],
    [
      '503 with a longer Retry-After',
      { kind: 'serverError', status: 503, retryAfterMs: 90_000 },
      [90_000, 90_000, 90_000, 90_000],
    ],
  ] as const)(
    'the requeue delay grows while Viola answers each POST with %s',
    async (_, details, waits) => {
      attach(scene.cloud, 1, 1);
      scene.viola.beforePost = () => {
        throw new RequestError('busy', { service: 'viola', ...details });
      };
      scene.create();
      const pauses: unknown[] = [];
      while (pauses.length < waits.length) pauses.push(await scene.look());
      expect(pauses).toEqual(waits);
    },
  );

  it('the requeue delay grows after each failure, and resets after a success', async () => {
    await delivered(scene);
    scene.cloud.fail('portsOf', 'serverError');
    const waits = [];
    for (let n = 0; n < 5; n++) waits.push(await scene.look());
    expect(waits).toEqual([30_000, 60_000, 120_000, 240_000, 300_000]);
    scene.cloud.heal();
    expect(await scene.look()).toBe(20_000);
    scene.cloud.fail('portsOf', 'serverError');
    expect(await scene.look()).toBe(30_000);
  });

  it('the requeue delay is short for the first four syncs while delivered ports are DOWN', async () => {
    await delivered(scene);
    await scene.look(180_000);
    scene.cloud.ports = scene.cloud.ports.map((port) => ({ ...port, status: 'DOWN' }));
    const waits = [];
    for (let n = 0; n < 6; n++) waits.push(await scene.look(120_000));
    expect(waits).toEqual([20_000, 20_000, 20_000, 20_000, 120_000, 120_000]);
    expect(scene.status().downPortRetry?.fastAttempts).toBe(5);
    expect(scene.viola.posts).toHaveLength(1);
    scene.cloud.ports = scene.cloud.ports.map((port) => ({ ...port, status: 'ACTIVE' }));
    await scene.look(120_000);
    expect(scene.status().downPortRetry).toBeUndefined();
  });

  it('lastSyncedAt is written at most every ten minutes while nothing else changes', async () => {
    await delivered(scene);
    await scene.look();
    const before = scene.kube.writes.length;
    await scene.look(599_000);
    expect(scene.kube.writes).toHaveLength(before);
    await scene.look(1_000);
    expect(scene.kube.writes).toHaveLength(before + 1);
    expect(scene.status().lastSyncedAt).toBe('2026-01-01T00:10:30Z');
  });
});

describe('secrets', () => {
  it('secrets appear in no status and no event', async () => {
    await delivered(scene);
    scene.cloud.fail('portsOf', 'unauthorized', 'keystone');
    await scene.look();
    const shown = JSON.stringify([scene.object(), scene.events]);
    expect(shown).not.toContain('secret-word');
    expect(shown).not.toContain(environment['CONTRABASS_ENCRYPT_KEY']);
  });
});
