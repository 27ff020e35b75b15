import { afterAll, beforeAll, expect, it } from 'vitest';
import { OperatorFixture, ref } from '../../test/fixtures/operator.ts';
import { openstackConfigs } from './openstack-config.ts';
import { eventually } from './testing/eventually.ts';

let place: OperatorFixture;

beforeAll(async () => {
  place = await OperatorFixture.open();
});

afterAll(() => place?.[Symbol.asyncDispose]());

it('wakes all that failed with a cloud as soon as one of them finds it back', async () => {
  place.cloud.failures.add({ kind: 'status', service: 'neutron', status: 503 });
  const operator = await place.start('woken.db', { 'poll-error-interval': '10m' });
  const asked = { ...ref, name: 'asked' };
  const other = { ...ref, name: 'other' };
  for (const each of [asked, other]) {
    const { name } = each;
    const { serverId } = place.cloud.controls.createServer({
      projectId: place.world.projectId,
      name,
    });
    await place.createConfig(each, [serverId]);
  }
  for (const each of [asked, other]) {
    await eventually(
      async () => place.ready(each),
      (text) => text.startsWith('False Neutron'),
    );
  }
  place.cloud.failures.heal();
  let times = 0;
  await eventually(
    async () => {
      const annotations = { 'multinic.io/reconcile-at': `${times++}` };
      await place.viola.admin.patch(openstackConfigs, asked, { metadata: { annotations } });
      return place.ready(asked);
    },
    (text) => text.startsWith('True'),
  );
  // Its own next look is ten minutes away.
  await expect.poll(() => place.ready(other)).toMatch(/^True /);
  for (const each of [asked, other]) await place.viola.admin.delete(openstackConfigs, each);
  await operator.stop();
});
