import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { calculate } from '../../src/plan/calculate.ts';
import type { Port } from '../../src/plan/observation.ts';
import type { PlanInput, PortVerdict, Selection } from '../../src/plan/plan.ts';
import { existingNode, input, networks, owner, port, server } from '../../src/plan/sample.ts';
import { world } from './plan-world.ts';

const numRuns = 500;

describe('the verdicts of a plan', () => {
  it('are exactly one for each port of a selected server, and agree with what is delivered', () => {
    fc.assert(
      fc.property(world, (given) => {
        const plan = calculate(given);
        const selected = new Set(given.selection.serverIds);
        const ports = given.observation.ports.filter(({ deviceId }) => selected.has(deviceId));
        expect(plan.ports.map(({ portId }) => portId).toSorted()).toEqual(idsOf(ports));
        for (const verdict of plan.ports) expect(isConsistent(verdict)).toBe(true);
      }),
      { numRuns },
    );
  });

  it('flip to a NIC when the one fact changes that they name', () => {
    const flipped = new Set<string>();
    fc.assert(
      fc.property(obstacles, (names) => {
        let given = spoilt(names);
        // Each verdict names one fact; with all of them mended the port is a NIC.
        for (let left = names.length; left > 0; left--) {
          const { reason = '' } = verdictOf(given) ?? {};
          expect(names.filter((name) => reasons[name] === reason)).toHaveLength(1);
          flipped.add(reason);
          given = mended(given, reason, names);
        }
        expect(verdictOf(given)?.nic).toBe('multinic0');
      }),
      { numRuns },
    );
    expect([...flipped].toSorted()).toEqual(Object.values(reasons).toSorted());
  });
});

function idsOf(ports: readonly Port[]): string[] {
  return ports.map(({ id }) => id).toSorted();
}

/** A port is a NIC or it is told why not; one that Nova did not plug may be both. */
function isConsistent({ nic, reason, message }: PortVerdict): boolean {
  if (nic === undefined) return reason !== undefined && message !== undefined;
  return reason === undefined || reason === 'PortNotPlugged';
}

const reasons = {
  age: 'PortTooOld',
  status: 'PortStatus',
  subnet: 'SubnetNotSelected',
  family: 'FamilyNotWanted',
  owner: 'PortNotPlugged',
  network: 'NetworkUnread',
  conflict: 'NameConflict',
  address: 'PortWithoutAddress',
} as const;
type Name = keyof typeof reasons;

// An IPv6 address is one of a family that is not wanted, in a subnet that has to be selected for that to be seen.
const obstacles = fc.subarray(Object.keys(reasons) as Name[], { minLength: 1 });

const v6 = {
  id: 'sub-6',
  cidr: 'fd00::/64',
  networkId: 'net-a',
  ipVersion: 6 as const,
  gatewayIp: undefined,
  hostRoutes: [],
};

/** Port p1 of server s1, with these obstacles. */
function spoilt(names: readonly Name[]): PlanInput {
  const has = (name: Name) => names.includes(name);
  const other = { namespace: 'team-b', name: 'other', uid: 'other', generation: 1 };
  const sample = port(1, 's1', {
    ...(has('age') ? { createdAt: '2020-01-01T00:00:00Z' } : {}),
    ...(has('status') ? { status: 'BUILD' } : {}),
    ...(has('owner') ? { deviceOwner: 'network:vip' } : {}),
    fixedIps: has('address') ? [] : addressesOf(names),
  });
  const given = input({
    ports: [sample],
    servers: [server(1)],
    selection: { subnetIds: has('subnet') ? ['sub-b'] : ['sub-a', 'sub-6'] },
    observation: { networks: has('network') ? [] : networks },
    held: has('conflict') ? [existingNode(1, [], { source: other })] : [],
  });
  const { observation } = given;
  return { ...given, observation: { ...observation, subnets: [...observation.subnets, v6] } };
}

function addressesOf(names: readonly Name[]): Port['fixedIps'] {
  return names.includes('family')
    ? [{ subnetId: 'sub-6', ipAddress: 'fd00::1' }]
    : [{ subnetId: 'sub-a', ipAddress: '10.0.10.1' }];
}

/** The same with the one fact as it has to be. */
function mended(given: PlanInput, reason: string, names: readonly Name[]): PlanInput {
  const { observation } = given;
  const change = (what: Partial<Port>): PlanInput => ({
    ...given,
    observation: { ...observation, ports: observation.ports.map((one) => ({ ...one, ...what })) },
  });
  const select = (what: Partial<Selection>): PlanInput => ({
    ...given,
    selection: { ...given.selection, ...what },
  });
  const mends: Readonly<Record<string, () => PlanInput>> = {
    PortTooOld: () => select({ createdAfter: undefined }),
    PortStatus: () => change({ status: 'ACTIVE' }),
    SubnetNotSelected: () => select({ subnetIds: ['sub-a', 'sub-6'] }),
    FamilyNotWanted: () => select({ addressFamilies: ['IPv4', 'IPv6'] }),
    PortNotPlugged: () => change({ deviceOwner: 'compute:nova' }),
    PortWithoutAddress: () => change({ fixedIps: addressesOf(names) }),
    NetworkUnread: () => ({ ...given, observation: { ...observation, networks } }),
    NameConflict: () => ({
      ...given,
      held: [existingNode(1, [], { source: { ...owner, generation: 1 } })],
    }),
  };
  return mends[reason]?.() ?? given;
}

function verdictOf(given: PlanInput): PortVerdict | undefined {
  return calculate(given).ports.find(({ portId }) => portId === 'p1');
}
