import { expect, it } from 'vitest';
import { delivered, setScene } from '../testing/scene.ts';

it('[W17] the condition Accepted names a capped timeout, also while looks fail, and goes with it', async () => {
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
