import { expect, it } from 'vitest';
import { attach, setScene } from '../testing/scene.ts';

const provided = {
  keystoneUrl: 'https://keystone.test',
  username: 'admin',
  password: 'p',
  domainName: 'Default',
};
const rabbit = { username: 'r', password: 'secret-word', hosts: ['10.0.0.1:5672'] };
const condition = {
  type: 'Notifications',
  status: 'True',
  reason: 'Connected',
  message: 'told',
} as const;

it('an OpenstackConfig listens to the broker of its cloud until it is gone', async () => {
  await using scene = await setScene();
  scene.clouds.provided = { ...provided, rabbit };
  scene.create();
  attach(scene.cloud, 1, 1);
  await scene.look();
  expect([...scene.notifications.brokers]).toEqual([['multinic-system/osc', rabbit]]);
  scene.clouds.provided = provided;
  await scene.look();
  expect([...scene.notifications.brokers]).toEqual([]);
  scene.clouds.provided = { ...provided, rabbit };
  await scene.look();
  expect(scene.notifications.brokers.size).toBe(1);
  scene.edit({ subnetIDs: [] });
  await scene.look();
  expect([...scene.notifications.brokers]).toEqual([]);
});

it('its Secret says what Contrabass says, as long as it is there', async () => {
  await using scene = await setScene();
  scene.clouds.provided = { ...provided, rabbit };
  scene.create();
  attach(scene.cloud, 1, 1);
  await scene.look();
  expect([...scene.brokerSecrets.brokers]).toEqual([['multinic-system/osc', rabbit]]);
  expect(scene.ready()).toMatch(/^True/);
  scene.kube.configs.replace([]);
  await scene.reconcile(0);
  expect([...scene.brokerSecrets.brokers]).toEqual([]);
});

it('its status says how that goes, and nothing when there is nothing to say', async () => {
  await using scene = await setScene();
  scene.create();
  attach(scene.cloud, 1, 1);
  await scene.look();
  expect(scene.condition('Notifications')).toBeUndefined();
  scene.notifications.condition = condition;
  await scene.look();
  expect(scene.condition('Notifications')).toMatchObject(condition);
  scene.notifications.condition = { ...condition, status: 'False', reason: 'Disconnected' };
  await scene.look();
  expect(scene.condition('Notifications')?.reason).toBe('Disconnected');
  // NICs do not wait for it.
  expect(scene.ready()).toMatch(/^True/);
  scene.notifications.condition = undefined;
  await scene.look();
  expect(scene.condition('Notifications')).toBeUndefined();
});
