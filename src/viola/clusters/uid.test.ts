import { afterAll, beforeAll, expect, it } from 'vitest';
import { postedNode as node, ViolaFixture } from '../../../test/fixtures/viola.ts';
import { clusters } from '../../api/node-configs-http.ts';
import { namespaces } from '../../kube/core-resources.ts';

let bed: ViolaFixture;

beforeAll(async () => {
  bed = await ViolaFixture.start();
});

afterAll(() => bed[Symbol.asyncDispose]());

const uidShown = async () => {
  const { items } = clusters.parse((await bed.get('/v1/k8s/clusters')).body);
  return items.find(({ providerId }) => providerId === 'biz-1')?.uid;
};
const reads = () => bed.api.audit.filter(({ resource, verb }) => `${verb} ${resource}` === rule);
const rule = 'get namespaces';

it('the cluster list has the uid of kube-system when Viola may read the Namespace, with a single read', async () => {
  const { metadata } = await bed.admin.get(namespaces, { name: 'kube-system' });
  bed.api.faults.answer({ verb: 'get', resource: 'namespaces', status: 403 });
  expect(await uidShown()).toBeUndefined();
  const before = reads().length;
  await bed.post([node]);
  expect(reads()).toHaveLength(before);
  expect(await uidShown()).toBe(metadata.uid);
  expect(await uidShown()).toBe(metadata.uid);
  expect(reads()).toHaveLength(before + 1);
});
