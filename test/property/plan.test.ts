import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { InterfaceSpec } from '../../src/api/multinicnodeconfig.ts';
import type { HeldNode } from '../../src/api/node-configs-http.ts';
import { calculate } from '../../src/plan/calculate.ts';
import { indexOfEntry } from '../../src/plan/held-entries.ts';
import { missingPorts } from '../../src/plan/missing-ports.ts';
import type { Port, PortEvidence } from '../../src/plan/observation.ts';
import type { PlanInput } from '../../src/plan/plan.ts';
import {
  applied,
  entry,
  held,
  input,
  owner,
  port,
  selection,
  server,
} from '../../src/plan/sample.ts';

const numRuns = 300;
const serverNumber = fc.integer({ min: 1, max: 4 });
const portNumber = fc.integer({ min: 1, max: 14 });

/** A port of one of four servers, in subnet a, b, both, none, or one that is not selected. */
const somePort = fc
  .record({
    n: portNumber,
    at: serverNumber,
    letter: fc.constantFrom('a', 'b'),
    status: fc.constantFrom('ACTIVE', 'DOWN', 'BUILD', 'ERROR', ''),
    createdAt: fc.constantFrom('2026-01-02T00:00:00Z', '2025-01-01T00:00:00Z', undefined),
    addresses: fc.constantFrom<'one' | 'none' | 'foreign' | 'two'>('one', 'none', 'foreign', 'two'),
    mac: portNumber,
    oddMac: fc.boolean(),
  })
  .map((made): Port => {
    const plain = port(made.n, `s${made.at}`, {}, made.letter);
    const twin = port(made.n + 100, `s${made.at}`, {}, made.letter);
    const fixedIps = {
      one: plain.fixedIps,
      none: [],
      foreign: [{ subnetId: 'sub-x', ipAddress: `10.9.9.${made.n}` }],
      two: [...plain.fixedIps, ...twin.fixedIps],
    }[made.addresses];
    const macAddress = made.oddMac ? port(made.mac, 's1').macAddress : plain.macAddress;
    return { ...plain, status: made.status, createdAt: made.createdAt, fixedIps, macAddress };
  });

const somePorts = fc.uniqueArray(somePort, { maxLength: 12, selector: ({ id }) => id });

const someEntries = fc
  .uniqueArray(fc.record({ n: portNumber, index: fc.integer({ min: 0, max: 11 }) }), {
    maxLength: 6,
    selector: ({ n }) => n,
  })
  .chain((entries) =>
    fc
      .uniqueArray(fc.integer({ min: 0, max: 9 }), { minLength: entries.length, maxLength: 10 })
      .chain((indexes) =>
        fc.tuple(fc.constant(entries), fc.constant(indexes), fc.boolean(), fc.boolean()),
      ),
  )
  .map(([entries, indexes, odd, bare]) =>
    entries.map(({ n, index }, at): InterfaceSpec => {
      const made = entry(n, odd ? index : (indexes[at] ?? at));
      const { portId: _id, subnetId: _subnet, ...rest } = made;
      return bare ? rest : made;
    }),
  );

const sources: readonly (HeldNode['source'] | undefined)[] = [
  { ...owner, generation: 1 },
  { ...owner, generation: 1 },
  undefined,
  { ...owner, uid: 'older-uid', generation: 1 },
  { namespace: 'team-b', name: 'other', uid: 'other', generation: 1 },
];

const someHeld = fc
  .record({
    n: fc.integer({ min: 1, max: 6 }),
    entries: someEntries,
    source: fc.constantFrom(...sources),
    leaving: fc.uniqueArray(fc.integer({ min: 0, max: 9 }), { maxLength: 3 }),
    deleting: fc.integer({ min: 0, max: 9 }).map((n) => n === 0),
  })
  .map(({ n, entries, source, leaving, deleting }): HeldNode => {
    const { source: _source, ...node } = held(n, entries);
    const statuses = leaving.map((id) => ({ id, portId: `gone-${id}` }));
    return {
      ...node,
      ...(source ? { source } : {}),
      ...(deleting ? { deletionTimestamp: '2026-01-01T00:00:00Z' } : {}),
      status: { interfaceStatuses: statuses },
    };
  });

const someEvidence = fc.uniqueArray(
  fc.record({
    portId: portNumber.map((n) => `p${n}`),
    serverId: serverNumber.map((n) => `s${n}`),
    verdict: fc.constantFrom<PortEvidence['verdict']>(
      'stillAttached',
      'attachedElsewhere',
      'portGone',
      'serverDeleted',
      'unconfirmed',
    ),
  }),
  { maxLength: 12, selector: ({ portId, serverId }) => `${serverId}/${portId}` },
);

const world = fc
  .record({
    selected: fc.uniqueArray(serverNumber, { maxLength: 4 }),
    subnetIds: fc.constantFrom(['sub-a'], ['sub-a', 'sub-b'], ['sub-b', 'sub-a'], ['sub-c']),
    subnetsComplete: fc.boolean(),
    pinned: fc.record({ servers: fc.boolean(), subnets: fc.boolean() }),
    maxInterfaces: fc.integer({ min: 1, max: 10 }),
    known: fc.uniqueArray(serverNumber, { maxLength: 4 }),
    deleted: fc.integer({ min: 1, max: 12 }),
    networks: fc.subarray([
      { id: 'net-a', mtu: 1450 },
      { id: 'net-b', mtu: 9000 },
    ]),
    ports: somePorts,
    held: fc.uniqueArray(someHeld, { maxLength: 5, selector: ({ nodeName }) => nodeName }),
    evidence: someEvidence,
    removals: fc.constantFrom('guarded' as const, 'allowed' as const),
  })
  .map((made): PlanInput => {
    const servers = made.known.map((n) =>
      server(n, { status: n === made.deleted ? 'DELETED' : 'ACTIVE' }),
    );
    const { subnetIds, subnetsComplete, pinned, maxInterfaces } = made;
    const serverIds = made.selected.map((n) => `s${n}`);
    return input({
      selection: { ...selection, serverIds, subnetIds, subnetsComplete, pinned, maxInterfaces },
      servers,
      ports: made.ports,
      observation: { networks: made.networks },
      held: made.held,
      evidence: made.evidence,
      input: { removals: made.removals },
    });
  });

/** The same NIC: same port, or same MAC where an entry names no port. */
function findNic(list: readonly InterfaceSpec[], nic: InterfaceSpec): InterfaceSpec | undefined {
  return list.find(({ portId, macAddress }) =>
    nic.portId && portId ? portId === nic.portId : macAddress === nic.macAddress,
  );
}

/** Ports that an entry without a port id can be about: of several with its MAC those with its address, if any. */
function portsByMac(nic: InterfaceSpec, ports: readonly Port[], all: readonly InterfaceSpec[]) {
  const same = ports.filter(
    ({ id, macAddress }) =>
      macAddress === nic.macAddress && !all.some(({ portId }) => portId === id),
  );
  const hasAddress = ({ fixedIps }: Port) => fixedIps.some((ip) => ip.ipAddress === nic.address);
  const exact = same.filter(hasAddress);
  return exact.length > 0 ? exact : same;
}

/** Whether the removal of a NIC of a selected server is proven; written without looking at the planner. */
function isProven(node: HeldNode, nic: InterfaceSpec, given: PlanInput): boolean {
  const { observation, selection: chosen, evidence } = given;
  const serverId = node.spec.instanceId ?? '';
  const mine = observation.ports.filter(({ deviceId }) => deviceId === serverId);
  const seen = nic.portId
    ? mine.filter(({ id }) => id === nic.portId)
    : portsByMac(nic, mine, node.spec.interfaces ?? []);
  const ips = seen.flatMap(({ fixedIps }) => fixedIps);
  if (seen.length > 0) {
    return (
      chosen.subnetsComplete && !ips.some(({ subnetId }) => chosen.subnetIds.includes(subnetId))
    );
  }
  if (observation.servers.some(({ id, status }) => id === serverId && status === 'DELETED'))
    return true;
  return evidence.some(
    ({ portId, serverId: about, verdict }) =>
      portId === nic.portId &&
      about === serverId &&
      ['attachedElsewhere', 'portGone', 'serverDeleted'].includes(verdict),
  );
}

describe('the plan', () => {
  it('has nothing left to do once it was applied', () => {
    fc.assert(
      fc.property(world, (given) => {
        const after = { ...given, held: applied(given.held, calculate(given)) };
        const again = calculate(after).nodes.filter(({ action }) => action !== 'none');
        expect(again).toEqual([]);
      }),
      { numRuns },
    );
  });

  it('never moves a name that can be used', () => {
    fc.assert(
      fc.property(world, (given) => {
        for (const node of calculate(given).nodes) {
          const before = given.held.find(({ uid }) => uid === node.base?.uid);
          const names = (before?.spec.interfaces ?? []).map(indexOfEntry);
          for (const [at, nic] of (before?.spec.interfaces ?? []).entries()) {
            const usable = names[at] !== undefined && names.indexOf(names[at]) === at;
            const now = findNic(node.interfaces, nic);
            if (usable && now) expect(now.name).toBe(nic.name);
          }
        }
      }),
      { numRuns },
    );
  });

  it('removes nothing without evidence', () => {
    fc.assert(
      fc.property(world, (given) => {
        for (const { action, base, interfaces } of calculate(given).nodes) {
          const before = given.held.find(({ uid }) => uid === base?.uid);
          if (action !== 'post' || !before) continue;
          for (const nic of before.spec.interfaces ?? []) {
            if (!findNic(interfaces, nic)) expect(isProven(before, nic, given)).toBe(true);
          }
        }
      }),
      { numRuns },
    );
  });

  it('asks for nothing that could not be known before', () => {
    fc.assert(
      fc.property(world, (given) => {
        const before = missingPorts(given).map(({ portId, serverId }) => `${serverId}/${portId}`);
        const asked = calculate(given).ask.map(({ portId, serverId }) => `${serverId}/${portId}`);
        expect(before).toEqual(expect.arrayContaining(asked));
      }),
      { numRuns },
    );
  });

  it('deletes only own objects of servers that the CR does not name', () => {
    fc.assert(
      fc.property(world, (given) => {
        for (const { action, base, instanceId } of calculate(given).nodes) {
          if (action !== 'delete') continue;
          expect(given.held.find(({ uid }) => uid === base?.uid)?.source?.uid).toBe(owner.uid);
          expect(given.selection.serverIds).not.toContain(instanceId);
        }
      }),
      { numRuns },
    );
  });

  it('leaves objects of others alone', () => {
    fc.assert(
      fc.property(world, (given) => {
        const foreign = given.held.filter(({ source }) => source?.name === 'other');
        const acted = calculate(given).nodes.filter(({ action }) => action !== 'none');
        for (const { uid, nodeName, spec } of foreign) {
          expect(acted.find(({ base }) => base?.uid === uid)).toBeUndefined();
          expect(acted.find((node) => node.nodeName === nodeName)).toBeUndefined();
          expect(acted.find(({ instanceId }) => instanceId === spec.instanceId)).toBeUndefined();
        }
      }),
      { numRuns },
    );
  });

  it('gives no name twice, and no more NICs than allowed beside those that were there', () => {
    fc.assert(
      fc.property(world, (given) => {
        for (const { interfaces, base } of calculate(given).nodes) {
          const before = given.held.find(({ uid }) => uid === base?.uid)?.spec.interfaces ?? [];
          const added = interfaces.filter((nic) => !findNic(before, nic));
          const others = interfaces.filter((nic) => !added.includes(nic));
          for (const { name } of added) {
            expect(interfaces.filter((nic) => nic.name === name)).toHaveLength(1);
            expect(before.map((nic) => nic.name)).not.toContain(name);
          }
          const room = Math.max(0, given.selection.maxInterfaces - others.length);
          expect(added.length).toBeLessThanOrEqual(room);
        }
      }),
      { numRuns },
    );
  });

  it('does not depend on the order of what it is given', () => {
    const shuffled = world.chain((given) =>
      fc.record({
        given: fc.constant(given),
        ports: shuffle(given.observation.ports),
        servers: shuffle(given.observation.servers),
        nodes: shuffle(given.held),
        evidence: shuffle(given.evidence),
        serverIds: shuffle(given.selection.serverIds),
      }),
    );
    fc.assert(
      fc.property(shuffled, ({ given, ports, servers, nodes, evidence, serverIds }) => {
        const other: PlanInput = {
          ...given,
          selection: { ...given.selection, serverIds },
          observation: { ...given.observation, ports, servers },
          held: nodes,
          evidence,
        };
        expect(calculate(other)).toEqual(calculate(given));
      }),
      { numRuns },
    );
  });
});

function shuffle<T>(list: readonly T[]): fc.Arbitrary<readonly T[]> {
  return fc.shuffledSubarray([...list], { minLength: list.length });
}
