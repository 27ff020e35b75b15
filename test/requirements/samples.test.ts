import { afterAll, beforeAll, expect, it } from 'vitest';
import { parse } from 'yaml';
import { type ApiServer, startApiServer } from '../../rig/apiserver/server.ts';
import { crdDefinitions } from '../../src/api/crd/definition.ts';
import { bizConfigSpec, type MultiNicBizConfig } from '../../src/api/multinicbizconfig.ts';
import { bizConfigGroups } from '../../src/api/names.ts';
import { bizConfigsIn, readBizConfig } from '../../src/biz-config/biz-config.ts';
import { entriesOf } from '../../src/biz-config/entries.ts';
import type { KubeClient } from '../../src/kube/client/client.ts';
import { createKubeClient } from '../../src/kube/client/http-client.ts';
import { namespaces } from '../../src/kube/core-resources.ts';
import { systemClock } from '../../src/time/clock.ts';
import { blocksOf } from '../repo/guides.ts';
import { textOf } from '../repo/tree.ts';
import { bizConfigOf003, sampleFiles, sampleIn } from './samples.ts';

let api: ApiServer;
let client: KubeClient;

beforeAll(async () => {
  api = await startApiServer({ crds: Object.values(crdDefinitions()) });
  client = createKubeClient(api.access, { clock: systemClock });
  await client.create(namespaces, { metadata: { name: 'multinic-system' } });
});

afterAll(async () => {
  await client[Symbol.asyncDispose]();
  await api.close();
});

const original = parse(bizConfigOf003()) as MultiNicBizConfig;

it.each(bizConfigGroups)(
  'the sample of document 003 is stored whole in group %s',
  async (group) => {
    const resource = bizConfigsIn(group);
    const { apiVersion: _, ...sample } = original;
    await client.apply(resource, sample, { fieldManager: 'test' });
    await client.patchStatus(resource, sample.metadata, { status: sample.status });
    const [stored] = api.objects(`multinicbizconfigs.${group}`, 'multinic-system');
    expect(stored).toMatchObject({ ...sample, apiVersion: `${group}/v1` });
    expect(stored).toMatchObject({ spec: original.spec, status: original.status });
  },
);

it.each(sampleFiles)('%s is stored whole, and each entry can be used', async (path) => {
  const sample = sampleIn(path);
  expect(sample.apiVersion).toBe('multinic.io/v1');
  const stored = await client.apply(bizConfigsIn('multinic.io'), sample, {
    fieldManager: path,
    force: true,
  });
  expect(stored.spec).toEqual(sample.spec);
  const entries = entriesOf(readBizConfig(stored), () => undefined);
  expect(entries.map(({ kind }) => kind)).toEqual(entries.map(() => 'usable'));
});

it('the sample in the guide has no unknown field, and each entry can be used', () => {
  const [block] = blocksOf(textOf('docs/guides/biz-config.md')).filter(
    ({ language }) => language === 'yaml',
  );
  const sample = parse(block?.text ?? '') as MultiNicBizConfig;
  expect(bizConfigSpec.parse(sample.spec)).toEqual(sample.spec);
  const entries = entriesOf(readBizConfig(sample), () => undefined);
  expect(entries.map(({ kind }) => kind)).toEqual(['usable']);
});

it('the sample for production is that of document 003, in the group of the definition', () => {
  const { apiVersion: _own, ...sample } = sampleIn(sampleFiles[0]);
  const { apiVersion: _theirs, status: _status, ...theirs } = original;
  expect(sample).toEqual(theirs);
});
