import { afterAll, beforeAll, expect, it } from 'vitest';
import { OperatorFixture, ref } from '../../test/fixtures/operator.ts';
import { openstackConfigs } from './model/openstack-config.ts';
import { eventually } from './testing/eventually.ts';

let fixture: OperatorFixture;

beforeAll(async () => {
  fixture = await OperatorFixture.open();
});

afterAll(() => fixture?.[Symbol.asyncDispose]());

it('a recovered cloud immediately retries all failed OpenstackConfigs', async () => {
  fixture.cloud.failures.add({ kind: 'status', service: 'neutron', status: 503 });
  const operator = await fixture.start('recovered.db', { 'poll-error-interval': '10m' });
  const requested = { ...ref, name: 'asked' };
  const other = { ...ref, name: 'other' };
  for (const each of [requested, other]) {
    const { name } = each;
    const { serverId } = fixture.cloud.controls.createServer({
      projectId: fixture.world.projectId,
      name,
    });
    await fixture.createConfig(each, [serverId]);
  }
  for (const each of [requested, other]) {
    await eventually(
      async () => fixture.ready(each),
      (text) => text.startsWith('False Neutron'),
    );
  }
  fixture.cloud.failures.heal();
  let times = 0;
  await eventually(
    async () => {
      const annotations = { 'multinic.io/reconcile-at': `${times++}` };
      await fixture.viola.admin.patch(openstackConfigs, requested, { metadata: { annotations } });
      return fixture.ready(requested);
    },
    (text) => text.startsWith('True'),
  );
  // The next regular poll is ten minutes away.
  await expect.poll(() => fixture.ready(other)).toMatch(/^True /);
  for (const each of [requested, other]) await fixture.viola.admin.delete(openstackConfigs, each);
  await operator.stop();
});
