import { expect, it } from 'vitest';
import { attach, setScene } from '../../testing/scene.ts';

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

it("an OpenstackConfig listens to its cloud's broker until Contrabass names no broker or the spec becomes invalid", async () => {
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

it('the broker Secret follows Contrabass until the OpenstackConfig is gone', async () => {
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

it('the status has condition Notifications while the connection has a condition', async () => {
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
  // The NICs are ready without notifications.
  expect(scene.ready()).toMatch(/^True/);
  scene.notifications.condition = undefined;
  await scene.look();
  expect(scene.condition('Notifications')).toBeUndefined();
});
