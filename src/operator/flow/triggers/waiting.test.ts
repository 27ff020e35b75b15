import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { KubeError } from '../../../kube/errors.ts';
import { attach, delivered, environment, type Scene, setScene } from '../../testing/scene.ts';

let scene: Scene;

beforeEach(async () => {
  scene = await setScene();
});

afterEach(async () => scene[Symbol.asyncDispose]());

/** Creates an OpenstackConfig and reconciles it once, without a cause for a sync. */
async function createdIn(trigger: string): Promise<void> {
  scene.trigger(trigger);
  attach(scene.cloud, 1, 1);
  scene.create();
  await scene.reconcile(1_000);
}

describe('an OpenstackConfig before its first sync', () => {
  it('[H2] Ready is Unknown with the next scheduled time before the first sync', async () => {
    await createdIn('mode: scheduled\ninterval: 15m');
    expect(scene.ready()).toMatch(
      /^Unknown WaitingForTrigger: the first sync is due at 2026-\d\d-\d\dT\d\d:(00|15|30|45):00Z/,
    );
    expect(scene.condition('NICsReady')).toMatchObject({ status: 'Unknown' });
    await scene.reconcile(900_000);
    expect(scene.ready()).toContain('True Synced');
  });

  it('[H2] Ready is Unknown in mode webhook and reports missing callers', async () => {
    await createdIn('mode: webhook');
    expect(scene.ready()).toContain(
      'Unknown WaitingForTrigger: the trigger endpoint has no callers',
    );
    expect(scene.ready()).toContain('--api-tokens-file');
    expect(scene.events).toMatchObject([{ type: 'Normal', reason: 'WaitingForTrigger' }]);
  });

  it('[H2] Ready is Unknown in mode webhook and waits for a call when callers are configured', async () => {
    scene.restart({ ...environment, API_TOKENS_FILE: '/etc/tokens' });
    await createdIn('mode: webhook');
    expect(scene.ready()).toContain('Unknown WaitingForTrigger: waits for a call');
  });

  it('[H2] Ready is Unknown in mode manual without immediateOnCRChange, until an annotation starts a sync', async () => {
    await createdIn('mode: manual\nimmediateOnCRChange: false');
    expect(scene.ready()).toContain(
      'Unknown WaitingForTrigger: mode manual starts no sync by itself',
    );
    scene.kube.annotate({ 'multinic.io/reconcile-at': 'now' });
    await scene.reconcile(1_000);
    expect(scene.ready()).toContain('True Synced');
  });

  it('[H2] Ready Unknown is written once and starts no sync, even after a restart', async () => {
    await createdIn('mode: webhook');
    const writes = scene.kube.writes.length;
    scene.restart();
    for (let n = 0; n < 5; n++) await scene.reconcile(60_000);
    expect(scene.kube.writes).toHaveLength(writes);
    expect(scene.cloud.log).toEqual([]);
    expect(scene.events).toHaveLength(1);
  });
});

describe('an edited OpenstackConfig', () => {
  it("[H2] Ready is Unknown until the edited generation's first sync", async () => {
    await delivered(scene);
    scene.trigger('mode: webhook');
    scene.edit({ subnetIDs: ['sub-b'] });
    await scene.reconcile(1_000);
    expect(scene.ready()).toContain('Unknown WaitingForTrigger');
    expect(scene.condition('Ready')?.observedGeneration).toBe(2);
    expect(scene.status().observedGeneration).toBe(1);
  });

  it("[H2] Ready is Unknown during the edited generation's first sync", async () => {
    await delivered(scene);
    scene.edit({
      vmNames: [...(scene.status().nodes ?? [])].map(({ instanceId = '' }) => instanceId),
    });
    let during = '';
    scene.viola.beforePost = () => {
      during = scene.ready();
    };
    attach(scene.cloud, 3, 1);
    await scene.look();
    expect(during).toContain('Unknown WaitingForTrigger');
    expect(scene.ready()).toContain('True');
  });

  it('[H2] an edit is delivered although one status write fails with 503', async () => {
    await delivered(scene);
    attach(scene.cloud, 3, 1);
    scene.edit({ settings: { maxInterfaces: 5 } });
    const { applyStatus } = scene.kube;
    scene.kube.applyStatus = async () => {
      scene.kube.applyStatus = applyStatus;
      throw new KubeError({ status: 503, reason: 'ServiceUnavailable', message: 'away' });
    };
    await scene.look(120_000);
    expect(scene.nics('worker-1')).toHaveLength(2);
    expect(scene.condition('Ready')?.status).toBe('True');
  });

  it('[H2] Ready is Unknown after a pause that ends in mode webhook', async () => {
    await delivered(scene);
    scene.kube.annotate({ 'multinic.io/paused': 'true' });
    await scene.reconcile(1_000);
    scene.trigger('mode: webhook');
    scene.kube.annotate({ 'multinic.io/paused': 'false' });
    await scene.reconcile(1_000);
    expect(scene.ready()).toContain('Unknown WaitingForTrigger');
    expect(scene.condition('Paused')).toBeUndefined();
  });
});
