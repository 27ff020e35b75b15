import { expect, it } from 'vitest';
import { missingText } from '../fact.ts';
import { cluster, config } from '../testing/healthy.ts';
import { sharedClusters } from './shared-clusters.ts';

const of = (namespace: string, providerId = 'biz-1', deliveredTo: string[] = []) => ({
  ...config,
  metadata: { ...config.metadata, namespace },
  spec: { ...config.spec, credentials: { k8sProviderID: providerId } },
  status: { deliveredTo },
});
const named = (...list: readonly string[]) => `OpenstackConfigs of the namespaces ${list.join()}`;

it.each([
  ['two namespaces', [of('b'), of('a')], false, [named('a, b')]],
  ['one namespace', [of('a'), of('a')], false, []],
  ['two namespaces of two clusters', [of('a'), of('b', 'biz-2')], false, []],
  ['a former namespace with nodes', [of('a'), of('b', 'biz-2', ['biz-1'])], false, [named('a, b')]],
  ['two namespaces that a map permits', [of('a'), of('b')], true, []],
  ['an earlier operator', [of('a'), of('b')], undefined, ['namespaces of business clusters']],
  ['an earlier operator and one namespace', [of('a')], undefined, []],
])('a business cluster of %s', (_, configs, hasNamespaceMap, texts) => {
  const { findings, skipped = [] } = sharedClusters(configs, [{ ...cluster, hasNamespaceMap }]);
  const found = [
    ...findings.map(({ evidence }) => evidence.en),
    ...skipped.map((missing) => missingText(missing).en),
  ];
  expect(found).toEqual(texts.map((text) => expect.stringContaining(text) as unknown));
});
