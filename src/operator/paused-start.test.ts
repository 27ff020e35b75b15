import { afterAll, beforeAll, expect, it } from 'vitest';
import { OperatorFixture, ref } from '../../test/fixtures/operator.ts';
import { openstackConfigs } from './model/openstack-config.ts';
import { eventually } from './testing/eventually.ts';

let fixture: OperatorFixture;

beforeAll(async () => {
  fixture = await OperatorFixture.open();
});

afterAll(() => fixture?.[Symbol.asyncDispose]());

it('[N7] a started operator reads the nodes of a paused OpenstackConfig without a sync', async () => {
  const operator = await fixture.start('paused.db');
  await fixture.createConfig();
  await eventually(
    async () => fixture.ready(),
    (text) => text === 'True NoChange',
  );
  fixture.attach(0);
  await eventually(
    () => fixture.nics(),
    (list) => list.length === 1,
  );
  await eventually(operator.inventory, (list) => list.length === 1);
  const nicsReady = async () => fixture.statusOf('NICsReady');
  await eventually(nicsReady, (status) => status === 'Unknown');
  const annotations = { 'multinic.io/paused': 'true' };
  await fixture.viola.admin.patch(openstackConfigs, ref, { metadata: { annotations } });
  await eventually(
    async () => fixture.ready(),
    (text) => text === 'Unknown Paused',
  );
  await operator.stop();
  await fixture.reportConfigured();
  const again = await fixture.start('paused.db');
  await eventually(nicsReady, (status) => status === 'True');
  expect(await fixture.ready()).toBe('Unknown Paused');
  await again.stop();
});
