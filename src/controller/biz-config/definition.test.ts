import { afterEach, beforeEach, expect, it } from 'vitest';
import { allowGroups, BizSources, bizNode } from '../../../test/fixtures/biz-samples.ts';
import { ControllerFixture } from '../../../test/fixtures/controller.ts';
import { crdDefinitions } from '../../api/crd/definition.ts';
import type { BizConfigGroup } from '../../api/names.ts';
import { crds } from '../../kube/core-resources.ts';

let bed: ControllerFixture;
let sources: BizSources;

beforeEach(async () => {
  bed = await ControllerFixture.start();
  sources = new BizSources(bed);
});

afterEach(() => bed[Symbol.asyncDispose]());

const nameIn = (group: BizConfigGroup) => `multinicbizconfigs.${group}`;

const remove = (group: BizConfigGroup) => bed.admin.delete(crds, { name: nameIn(group) });

async function define(group: BizConfigGroup): Promise<void> {
  const found = Object.values(crdDefinitions()).find(
    ({ metadata }) => metadata.name === nameIn(group),
  );
  await bed.admin.create(crds, found as never);
}

async function untilRemoved(group: BizConfigGroup): Promise<void> {
  const gone = async () => (await bed.admin.find(crds, { name: nameIn(group) })) === undefined;
  await bed.eventually(gone, () => `${group} stays`);
}

/** Whether an alert would hear of the watch: of a kind that is gone it would, for ever. */
async function isSilenceShown(): Promise<boolean> {
  const text = await bed.metrics.registry.metrics();
  return /^multinic_reflector_silence_seconds\{.*multinicbizconfigs\.multinic\.io.*\} \d/m.test(
    text,
  );
}

const untilExpanded = (name: string) =>
  bed.until(name, ({ metadata }) => metadata.labels?.['multinic.io/biz-config'] !== undefined);

it('a definition that is added after the start is found within a minute', async () => {
  await remove('multinic.io');
  await untilRemoved('multinic.io');
  bed.run();
  await bed.pass(100);
  expect(bed.notReady()).toBeUndefined();
  await define('multinic.io');
  await sources.create('all', [bizNode(1, [1])]);
  await untilExpanded('w-1');
});

it('a definition that is removed while the controller runs takes no object along, and may come back', async () => {
  await bed.addNode('w-1', 'i-1');
  await sources.create('all', [bizNode(1, [1])]);
  bed.run();
  await sources.untilCondition('all', 'Ready True AllNodesConfigured');
  expect(await isSilenceShown()).toBe(true);
  await remove('multinic.io');
  await untilRemoved('multinic.io');
  await bed.pass(1_000);
  expect(bed.notReady()).toBeUndefined();
  expect(await isSilenceShown()).toBe(false);
  expect(await bed.ready('w-1')).toBe('True AllInterfacesConfigured');
  await define('multinic.io');
  await sources.create('all', [bizNode(1, [1]), bizNode(2, [1])]);
  await untilExpanded('w-2');
  expect(await bed.ready('w-1')).toBe('True AllInterfacesConfigured');
});

it('sources of one group do not wait for the definition of the other', async () => {
  await allowGroups(bed);
  await remove('multinic.io');
  await untilRemoved('multinic.io');
  bed.run({ 'biz-config-groups': 'multinic.io,multinic.okestro.io' });
  await sources.create('other', [bizNode(1, [1])], { group: 'multinic.okestro.io' });
  await untilExpanded('w-1');
  expect(bed.notReady()).toBeUndefined();
});
