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
  ['no networks', [], ['Services', 'Pods']],
  ['networks for Services only', clusterNetworks.slice(0, 1), ['Pods']],
] as const)(
  'the network section names unknown networks when the cluster names %s',
  (_, list, uses) => {
    const rest = 'of biz-1, to compare with the NICs of 1 node: the cluster names none';
    expect(skippedOf({ clusterNetworks: new Map([['biz-1', read(list)]]) })).toEqual(
      uses.map((use) => `networks for ${use} ${rest}`),
    );
  },
);
