import { expect, it } from 'vitest';
import { examine } from '../examine.ts';
import { missingText } from '../fact.ts';
import type { SystemFacts } from '../facts.ts';
import { clusterNetworks, hidden, nodeConfig, read, systemFacts } from '../testing/healthy.ts';

const inOneSubnet = {
  ...nodeConfig,
  spec: {
    ...nodeConfig.spec,
    interfaces: (nodeConfig.spec.interfaces ?? []).map((entry, id) => ({
      ...entry,
      addresses: [`10.20.0.${18 + id}/24`],
    })),
  },
};
const inServices = clusterNetworks.map((each) => ({ ...each, cidr: '10.30.0.0/16' }));

function findingsOf(facts: Partial<SystemFacts>) {
  return examine({ ...systemFacts, ...facts })
    .flatMap(({ findings }) => findings)
    .map(({ section, severity, subject, reason }) => [section, severity, subject, reason]);
}

function skippedOf(facts: Partial<SystemFacts>) {
  return examine({ ...systemFacts, ...facts }).flatMap(({ section, skipped }) =>
    section === 'network' ? skipped.map((each) => missingText(each).en) : [],
  );
}

function checksOf(facts: Partial<SystemFacts>): number {
  const sections = examine({ ...systemFacts, ...facts });
  return sections.find(({ section }) => section === 'network')?.checks ?? 0;
}

it('the network section warns when isolated NICs share a subnet', () => {
  expect(findingsOf({ nodeConfigs: new Map([['biz-1', read([inOneSubnet])]]) })).toEqual([
    ['network', 'warning', 'biz-1/worker-18', 'PathBypassed'],
  ]);
});

it('the network section warns about a Service network when the operator is unreachable', () => {
  const facts = {
    clusters: hidden('Business clusters'),
    clusterNetworks: new Map([['biz-1', read(inServices)]]),
  };
  expect(findingsOf(facts)).toEqual([['network', 'warning', 'biz-1/worker-18', 'NodePathTaken']]);
});

it('the network section skips the paths when a business cluster has no access', () => {
  const text = 'MultiNicNodeConfigs of biz-1: no access';
  expect(skippedOf({ nodeConfigs: new Map() })).toEqual([text]);
});

it('the network section warns about shared subnets when the networks are unreadable', () => {
  const facts = {
    nodeConfigs: new Map([['biz-1', read([inOneSubnet])]]),
    clusterNetworks: new Map([['biz-1', hidden('Networks')]]),
  };
  expect(findingsOf(facts)).toHaveLength(1);
  expect(skippedOf(facts)).toEqual(['Networks: no access']);
});

it.each([
  ['no networks', [], false],
  ['networks for Services only', clusterNetworks.slice(0, 1), false],
  ['networks for both uses', clusterNetworks, true],
] as const)('a cluster with %s skips nothing; checked overlaps: %s', (_, list, isChecked) => {
  const clusters = { clusterNetworks: new Map([['biz-1', read(list)]]) };
  expect(skippedOf(clusters)).toEqual([]);
  const unread = { clusterNetworks: new Map([['biz-1', hidden('Networks')]]) };
  expect(checksOf(clusters) - checksOf(unread)).toBe(isChecked ? 1 : 0);
});
