import { describe, expect, it } from 'vitest';
import { delivered, type Scene, setScene, spec } from './testing/scene.ts';

const webhook = 'mode: webhook';
const scheduled = 'mode: scheduled\nschedule: "0 * * * *"';
const request = (scene: Scene, value: string) =>
  scene.kube.annotate({ 'multinic.io/reconcile-at': value });
const keystoneAway = ({ cloud }: Scene) => {
  for (const call of ['portsOf', 'servers', 'subnet'] as const) cloud.fail(call, 'unauthorized');
};
const wrongSpec = ({ kube }: Scene) => kube.edit({ ...spec, subnetIDs: [] });

describe('status.lastAttempt', () => {
  it('names the requested value and the next attempt after each failed attempt, and costs no write at rest', async () => {
    const scene = await setScene();
    await delivered(scene);
    keystoneAway(scene);
    await scene.look(60_000);
    for (const value of ['one', 'two']) {
      request(scene, value);
      await scene.look();
      const { lastAttempt: { reconcileAt, at = '', nextAt = '' } = {} } = scene.status();
      expect([scene.ready().slice(0, 5), reconcileAt, Date.parse(at) < Date.parse(nextAt)]).toEqual(
        ['False', value, true],
      );
    }
    await scene.readNodes(60_000);
    const writes = scene.kube.writes.length;
    for (let n = 0; n < 4; n++) {
      await scene.readNodes(120_000);
      await scene.look(0);
    }
    expect(scene.kube.writes).toHaveLength(writes);
  });

  it('shows the result of a requested attempt although the status flaps', async () => {
    const scene = await setScene();
    await delivered(scene);
    for (let n = 0; n < 8; n++) {
      if (n % 2 === 0) scene.cloud.fail('portsOf', 'unreachable');
      else scene.cloud.heal();
      await scene.look();
    }
    expect(scene.ready()).toMatch(/^False/);
    scene.cloud.heal();
    request(scene, 'now');
    await scene.look();
    expect([scene.ready().slice(0, 4), scene.status().lastAttempt?.reconcileAt]).toEqual([
      'True',
      'now',
    ]);
  });

  it.each([
    ['immediate', '', undefined, true],
    ['webhook, synced', webhook, undefined, false],
    ['webhook, Keystone away', webhook, keystoneAway, true],
    ['webhook, refused spec', webhook, wrongSpec, false],
    ['schedule', scheduled, undefined, '2026-01-01T01:00:00Z'],
  ] as const)('has a next time in mode %s: %s', async (_, policy, fault, expected) => {
    const scene = await setScene();
    await delivered(scene);
    if (policy !== '') scene.trigger(policy);
    scene.viola.report('Configured');
    fault?.(scene);
    request(scene, 'now');
    await scene.look();
    const { nextAt, reconcileAt } = scene.status().lastAttempt ?? {};
    expect(reconcileAt).toBe('now');
    if (typeof expected === 'string') expect(nextAt).toBe(expected);
    else expect(nextAt !== undefined).toBe(expected);
  });
});
