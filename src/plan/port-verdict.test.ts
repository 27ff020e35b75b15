import { describe, expect, it } from 'vitest';
import { calculate, unusedPorts } from './calculate.ts';
import type { Port } from './observation.ts';
import {
  entry,
  existingNode,
  input,
  networks,
  port,
  type Sample,
  server,
  subnet,
} from './sample.ts';

function verdictsOf(sample: Sample) {
  return calculate(input(sample)).ports;
}

function verdictOf(change: Partial<Port>, sample: Sample = {}) {
  const [verdict] = verdictsOf({ ...sample, ports: [port(1, 's1', change)] });
  return verdict;
}

const foreign = { namespace: 'team-b', name: 'other', uid: 'other-uid', generation: 1 };

describe('port verdict', () => {
  it("[H1] a verdict names the port's NIC", () => {
    expect(verdictOf({})).toEqual({
      portId: 'p1',
      serverId: 's1',
      address: '10.0.10.1',
      nic: 'multinic0',
    });
  });

  it.each([
    ['PortStatus', { status: 'BUILD' }, 'BUILD', 'ACTIVE, DOWN'],
    ['PortNotPlugged', { deviceOwner: 'neutron:VIP' }, 'neutron:VIP', 'Nova'],
    ['PortNotPlugged', { deviceOwner: '' }, '""', 'Nova'],
    ['InvalidPort', { networkId: 'net-b' }, 'net-a', 'net-b'],
  ])('[H1] the verdict is %s for a port with %j', (reason, change, ...words) => {
    const verdict = verdictOf(change);
    expect(verdict).toMatchObject({ reason, address: '10.0.10.1' });
    expect(verdict?.nic).toBeUndefined();
    for (const word of words) expect(verdict?.message).toContain(word);
  });

  it('[W10] the verdict PortTooOld states both times and the setting that admits the port', () => {
    const verdict = verdictOf({ createdAt: '2025-12-31T23:58:00Z' });
    expect(verdict?.reason).toBe('PortTooOld');
    for (const word of ['2025-12-31T23:58:00Z', '2026-01-01T00:00:00Z', 'portBaseline: All']) {
      expect(verdict?.message).toContain(word);
    }
  });

  it('[W10] the verdict is PortTooOld when Neutron has no creation time', () => {
    const verdict = verdictOf({ createdAt: undefined });
    expect(verdict?.reason).toBe('PortTooOld');
    expect(verdict?.message).toContain('no creation time');
  });

  it('[P1] the verdict is PortWithoutAddress or SubnetNotSelected, without address, for a port outside the selection', () => {
    const other = { fixedIps: [{ subnetId: 'sub-x', ipAddress: '10.9.0.1' }] };
    const bare = { portId: 'p1', serverId: 's1' };
    expect(verdictOf({ fixedIps: [] })).toMatchObject({ ...bare, reason: 'PortWithoutAddress' });
    const verdict = verdictOf(other);
    expect(verdict).toMatchObject({ ...bare, reason: 'SubnetNotSelected' });
    expect(verdict?.address).toBeUndefined();
  });

  it('[H1] the verdict is FamilyNotWanted for an IPv6 address while only IPv4 is configured', () => {
    const v6 = { ...subnet('a'), ipVersion: 6, cidr: 'fd00::/64', gatewayIp: undefined } as const;
    const fixedIps = [{ subnetId: 'sub-a', ipAddress: 'fd00::5' }];
    const verdict = verdictOf({ fixedIps }, { observation: { subnets: [v6] } });
    expect(verdict).toMatchObject({ reason: 'FamilyNotWanted', address: 'fd00::5' });
  });

  it("[H1] the verdict is NetworkUnread while the port's network or subnet is unread", () => {
    const withoutNetwork = verdictOf({}, { observation: { networks: networks.slice(1) } });
    const withoutSubnet = verdictOf({}, { observation: { subnets: [] } });
    expect([withoutNetwork?.reason, withoutSubnet?.reason]).toEqual([
      'NetworkUnread',
      'NetworkUnread',
    ]);
  });

  it('[H1] the verdict is InterfaceLimitExceeded, InvalidPort or WaitingForName for an undeliverable port', () => {
    const two = [port(1, 's1'), port(2, 's1')];
    const limited = verdictsOf({ ports: two, selection: { maxInterfaces: 1 } });
    expect(limited[1]).toMatchObject({ portId: 'p2', reason: 'InterfaceLimitExceeded' });
    const twin = port(2, 's1', { macAddress: port(1, 's1').macAddress });
    expect(verdictsOf({ ports: [port(1, 's1'), twin] })[1]).toMatchObject({
      reason: 'InvalidPort',
    });
    const leaving = Array.from({ length: 10 }, (_, id) => ({ id, name: `multinic${id}` }));
    const node = existingNode(1, [], { status: { interfaceStatuses: leaving } });
    expect(verdictsOf({ ports: [port(1, 's1')], held: [node] })[0]).toMatchObject({
      reason: 'WaitingForName',
    });
  });

  it('[H1] a delivered port not plugged by Nova keeps its NIC and is reported', () => {
    const verdict = verdictOf({ deviceOwner: '' }, { held: [existingNode(1, [entry(1, 3)])] });
    expect(verdict).toMatchObject({ nic: 'multinic3', reason: 'PortNotPlugged' });
    expect(verdict?.message).toContain('the port stays multinic3 until it is detached, or');
    expect(unusedPorts(verdict ? [verdict] : [])).toHaveLength(1);
  });

  it("[H1] a blocked node's reason is the verdict for its ports", () => {
    const node = existingNode(1, [entry(1, 0)], { source: foreign });
    const ports = [port(1, 's1'), port(9, 's1', { fixedIps: [] })];
    expect(verdictsOf({ ports, held: [node] })).toMatchObject([
      { portId: 'p1', reason: 'NameConflict' },
      { portId: 'p9', reason: 'PortWithoutAddress' },
    ]);
  });

  it('[H1] the verdict is Waiting while another object under the node name must be deleted first', () => {
    const former = existingNode(1, [entry(7, 0)], {
      spec: { nodeName: 'worker-1', instanceId: 's7', interfaces: [entry(7, 0)] },
    });
    const [verdict] = verdictsOf({ ports: [port(1, 's1')], held: [former] });
    expect(verdict).toMatchObject({ portId: 'p1', reason: 'Waiting' });
    expect(verdict?.message).toContain('is deleted first');
  });

  it('[H1] each port on a selected server has exactly one verdict, and other ports have none', () => {
    const ports = [port(3, 's2'), port(2, 's1'), port(1, 's1'), port(4, 's9')];
    const sample = {
      ports,
      servers: [server(1), server(2)],
      selection: { serverIds: ['s2', 's1'] },
    };
    expect(verdictsOf(sample).map(({ portId }) => portId)).toEqual(['p1', 'p2', 'p3']);
  });
});

describe('plan summary', () => {
  it('[H1] the summary counts only filtered ports with an address in a selected subnet', () => {
    const primary = port(8, 's1', { fixedIps: [{ subnetId: 'sub-x', ipAddress: '10.9.0.1' }] });
    const old = port(1, 's1', { createdAt: '2020-01-01T00:00:00Z' });
    const { summary } = calculate(input({ ports: [primary, old, port(2, 's1')] }));
    expect(summary).toMatchObject({ interfaces: 1, filteredPorts: 1 });
  });

  it('[H4] the summary excludes NICs owned by another OpenstackConfig', () => {
    const node = existingNode(1, [entry(1, 0)], { source: foreign });
    const plan = calculate(input({ ports: [port(1, 's1')], held: [node] }));
    expect(plan.problems).toMatchObject([{ reason: 'NameConflict' }]);
    expect(plan.summary).toMatchObject({ nodes: 0, interfaces: 0 });
  });

  it('[H4] the summary counts NICs from a former OpenstackConfig with this name while their object is being deleted', () => {
    const node = existingNode(1, [entry(1, 0)], {
      source: { ...foreign, namespace: 'multinic-system', name: 'osc' },
      deletionTimestamp: '2026-01-01T00:00:00Z',
    });
    const plan = calculate(input({ ports: [port(1, 's1')], held: [node] }));
    expect(plan.nodes[0]).toMatchObject({ action: 'none', waiting: true });
    expect(plan.summary).toMatchObject({ nodes: 1, interfaces: 1 });
  });

  it("[H4] the summary excludes NICs in another OpenstackConfig's object for a server with the same name", () => {
    const twin = existingNode(1, [entry(1, 0)], {
      source: foreign,
      spec: { nodeName: 'worker-1', instanceId: 's7', interfaces: [entry(1, 0)] },
    });
    const plan = calculate(
      input({
        ports: [port(2, 's1'), port(3, 's2')],
        servers: [server(1), server(2)],
        held: [twin],
        selection: { serverIds: ['s1', 's2'] },
      }),
    );
    expect(plan.summary).toMatchObject({ nodes: 1, interfaces: 1 });
  });
});
