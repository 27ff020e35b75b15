import { afterEach, beforeEach, expect, it } from 'vitest';
import { allowGroups, BizSources, bizNode } from '../../../test/fixtures/biz-samples.ts';
import { ControllerFixture } from '../../../test/fixtures/controller.ts';
import { crdDefinitions } from '../../api/crd/definition.ts';
import type { BizConfigGroup } from '../../api/names.ts';
import { crds } from '../../kube/core-resources.ts';

let fixture: ControllerFixture;
let sources: BizSources;

beforeEach(async () => {
  fixture = await ControllerFixture.start();
  sources = new BizSources(fixture);
});

afterEach(() => fixture[Symbol.asyncDispose]());

const nameIn = (group: BizConfigGroup) => `multinicbizconfigs.${group}`;

const remove = (group: BizConfigGroup) => fixture.admin.delete(crds, { name: nameIn(group) });

async function define(group: BizConfigGroup): Promise<void> {
  const found = Object.values(crdDefinitions()).find(
    ({ metadata }) => metadata.name === nameIn(group),
  );
  await fixture.admin.create(crds, found as never);
}

async function untilRemoved(group: BizConfigGroup): Promise<void> {
  const gone = async () => (await fixture.admin.find(crds, { name: nameIn(group) })) === undefined;
  await fixture.eventually(gone, () => `${group} stays`);
}

/** True if metrics show the watch's silence: for a removed kind an alert would fire forever. */
async function isSilenceShown(): Promise<boolean> {
  const text = await fixture.metrics.registry.metrics();
  return /^multinic_reflector_silence_seconds\{.*multinicbizconfigs\.multinic\.io.*\} \d/m.test(
    text,
  );
}

const untilExpanded = (name: string) =>
  fixture.until(name, ({ metadata }) => metadata.labels?.['multinic.io/biz-config'] !== undefined);

it('a CRD added after the start is found within a minute', async () => {
  await remove('multinic.io');
  await untilRemoved('multinic.io');
  fixture.run();
  await fixture.pass(100);
  expect(fixture.notReady()).toBeUndefined();
  await define('multinic.io');
  await sources.create('all', [bizNode(1, [1])]);
  await untilExpanded('w-1');
});

it('a CRD removed at runtime leaves all objects, and may be added again', async () => {
  await fixture.addNode('w-1', 'i-1');
  await sources.create('all', [bizNode(1, [1])]);
  fixture.run();
  await sources.untilCondition('all', 'Ready True AllNodesConfigured');
  expect(await isSilenceShown()).toBe(true);
  await remove('multinic.io');
  await untilRemoved('multinic.io');
  await fixture.pass(1_000);
  expect(fixture.notReady()).toBeUndefined();
  expect(await isSilenceShown()).toBe(false);
  expect(await fixture.ready('w-1')).toBe('True AllInterfacesConfigured');
  await define('multinic.io');
  await sources.create('all', [bizNode(1, [1]), bizNode(2, [1])]);
  await untilExpanded('w-2');
  expect(await fixture.ready('w-1')).toBe('True AllInterfacesConfigured');
});

it("sources in one group do not wait for the other group's CRD", async () => {
  await allowGroups(fixture);
  await remove('multinic.io');
  await untilRemoved('multinic.io');
  fixture.run({ 'biz-config-groups': 'multinic.io,multinic.okestro.io' });
  await sources.create('other', [bizNode(1, [1])], { group: 'multinic.okestro.io' });
  await untilExpanded('w-1');
  expect(fixture.notReady()).toBeUndefined();
});
