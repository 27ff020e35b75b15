import { expect, it } from 'vitest';
import { delivered, setScene } from '../../testing/scene.ts';

it('[W17] condition Accepted reports a capped timeout, even while syncs fail, until the timeout is lowered', async () => {
  await using scene = await setScene();
  await delivered(scene);
  expect(scene.condition('Accepted')).toBeUndefined();
  scene.edit({ settings: { openstackTimeout: '24h' } });
  scene.cloud.fail('portsOf', 'timeout');
  await scene.look();
  expect(scene.condition('Ready')?.status).toBe('False');
  expect(scene.condition('Accepted')).toMatchObject({ status: 'True', reason: 'TimeoutCapped' });
  expect(scene.condition('Accepted')?.message).toContain('spec.settings.openstackTimeout "24h"');
  scene.edit({ settings: { openstackTimeout: '4m' } });
  await scene.look();
  expect(scene.condition('Accepted')).toBeUndefined();
});
