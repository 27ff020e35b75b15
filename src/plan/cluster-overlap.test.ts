import { describe, expect, it } from 'vitest';
import type { ClusterNetwork } from '../api/cluster-networks.ts';
import type { InterfaceSpec } from '../api/multinicnodeconfig.ts';
import { calculate } from './calculate.ts';
import { clusterOverlapOf } from './cluster-overlap.ts';
import { entry, existingNode, input, port, type Sample, subnet } from './sample.ts';

const services: ClusterNetwork = { cidr: '10.0.0.0/12', use: 'Services', source: 'ServiceCIDR' };
const services6: ClusterNetwork = { cidr: 'fd00:96::/108', use: 'Services', source: 'Services' };
const pods: ClusterNetwork = { cidr: '10.244.0.0/16', use: 'Pods', source: 'kubeadm-config' };

const message =
  'port p1 cannot be a NIC of its node: 10.0.10.0/24 overlaps 10.0.0.0/12 (Services, from ServiceCIDR); use another subnet or route, or correct controller.serviceCIDRs or controller.podNetworks in the business cluster';

function planOf(sample: Sample, clusterNetworks: readonly ClusterNetwork[] | undefined) {
  const networks = clusterNetworks ? { clusterNetworks } : {};
  return calculate(input({ ...sample, input: { ...sample.input, ...networks } }));
}

describe('a port in a network of the business cluster', () => {
  it('the port gets the verdict SubnetOverlapsCluster, and nothing is posted', () => {
    const plan = planOf({ ports: [port(1, 's1')] }, [services]);
    expect(plan.ports).toMatchObject([{ reason: 'SubnetOverlapsCluster', message }]);
    expect(plan.problems).toMatchObject([{ reason: 'SubnetOverlapsCluster', message }]);
    expect(plan.nodes.filter(({ action }) => action !== 'none')).toEqual([]);
  });

  it('further ports on the server are delivered', () => {
    const ports = [port(1, 's1'), port(2, 's1', {}, 'b')];
    const plan = planOf({ ports }, [{ ...services, cidr: '10.0.10.0/25' }]);
    expect(plan.ports.map(({ nic }) => nic)).toEqual([undefined, 'multinic0']);
  });

  it.each<[string, readonly ClusterNetwork[] | undefined]>([
    ['unknown networks', undefined],
    ['no networks', []],
    ['networks elsewhere', [pods, services6]],
  ])('the port is delivered with %s', (_, networks) => {
    const plan = planOf({ ports: [port(1, 's1')] }, networks);
    expect(plan.ports).toMatchObject([{ nic: 'multinic0' }]);
    expect(plan.problems).toEqual([]);
  });

  it('a delivered NIC stays unchanged', () => {
    const held = [existingNode(1, [entry(1, 0)])];
    const plan = planOf({ ports: [port(1, 's1')], held }, [services]);
    expect(plan.ports).toMatchObject([{ nic: 'multinic0' }]);
    expect(plan.problems).toEqual([]);
    expect(plan.nodes.flatMap(({ removals }) => removals.confirmed)).toEqual([]);
  });

  it('a delivered NIC keeps its entry if the subnet moves into the Pod network', () => {
    const held = [existingNode(1, [entry(1, 0)])];
    const moved = subnet('a', { cidr: '10.244.1.0/24', gatewayIp: undefined });
    const fixedIps = [{ subnetId: 'sub-a', ipAddress: '10.244.1.5' }];
    const observation = { subnets: [moved, subnet('b')] };
    const plan = planOf({ ports: [port(1, 's1', { fixedIps })], held, observation }, [pods]);
    expect(plan.problems).toMatchObject([{ reason: 'SubnetOverlapsCluster' }]);
    expect(plan.nodes.map(({ action }) => action)).toEqual(['none']);
  });
});

const nic = (change: Partial<InterfaceSpec>): InterfaceSpec => ({ ...entry(1, 0), ...change });

describe('clusterOverlapOf', () => {
  const route = { to: '10.244.7.0/24', via: '10.0.10.2' };

  it.each<[string, Partial<InterfaceSpec>, boolean]>([
    ['a host route in main', { routing: 'main', routes: [route] }, true],
    ['a host route in the table of the NIC', { routes: [route] }, false],
    [
      "a further subnet's route in main",
      { routing: 'main', subnets: [{ cidr: '10.9.0.0/24', routes: [route] }] },
      true,
    ],
    ['an IPv6 address', { addresses: ['10.0.10.1/24', 'fd00:96::5/112'] }, true],
    ['a subnet beside all networks', {}, false],
  ])('clusterOverlapOf judges %s', (_, change, isRefused) => {
    const found = clusterOverlapOf('p1', nic(change), [pods, services6]);
    expect(found !== undefined).toBe(isRefused);
  });
});
