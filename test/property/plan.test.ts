import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { InterfaceSpec, NodeConfigSpec } from '../../src/api/multinicnodeconfig.ts';
import type { ExistingNodeConfig } from '../../src/api/node-configs-http.ts';
import { type Calculation, calculate, calculateInSteps } from '../../src/plan/calculate.ts';
import { indexOfEntry } from '../../src/plan/free-names.ts';
import type { NodePlans } from '../../src/plan/node-plans.ts';
import type { Port } from '../../src/plan/observation.ts';
import type { Owner, PlanInput } from '../../src/plan/plan.ts';
import { applied, owner } from '../../src/plan/sample.ts';
import { isForeign, world } from './plan-world.ts';

const numRuns = 300;

/** The same NIC: same port, else same MAC. */
function findNic(list: readonly InterfaceSpec[], nic: InterfaceSpec): InterfaceSpec | undefined {
  const byPort = list.find(({ portId }) => nic.portId && portId === nic.portId);
  return byPort ?? list.find(({ macAddress }) => macAddress === nic.macAddress);
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

/** As the version before `subnets` wrote it. */
function withoutSubnets<T extends Pick<NodeConfigSpec, 'interfaces'>>(spec: T): T {
  const { interfaces } = spec;
  if (interfaces === undefined) return spec;
  return { ...spec, interfaces: interfaces.map(({ subnets: _subnets, ...entry }) => entry) };
}

/** The server's ports that the NIC is about; a port made again with the MAC in the network continues the NIC. */
function portsNow({ spec }: ExistingNodeConfig, nic: InterfaceSpec, { observation }: PlanInput) {
  const mine = observation.ports.filter(({ deviceId }) => deviceId === (spec.instanceId ?? ''));
  const named = mine.filter(({ id }) => id === nic.portId);
  const there = nic.portId ? mine.filter(({ networkId }) => networkId === nic.networkId) : mine;
  return named.length > 0 ? named : portsByMac(nic, there, spec.interfaces ?? []);
}

/** Whether the removal of a NIC of a selected server is proven; written without looking at the planner. */
function isProven(node: ExistingNodeConfig, nic: InterfaceSpec, given: PlanInput): boolean {
  const { observation, selection: chosen } = given;
  const serverId = node.spec.instanceId ?? '';
  const seen = portsNow(node, nic, given);
  const about = given.evidence.filter(
    (one) =>
      one.serverId === serverId &&
      (nic.portId ? one.portId === nic.portId : !one.portId && one.macAddress === nic.macAddress),
  );
  if (seen.length > 0) {
    // Only the CR takes a port that is there, or somebody who gave leave for one that was read again.
    const deselected = !seen.some((port) => isSelected(port, given));
    const edited = isEdited(node, nic, given);
    const allowed =
      given.consent !== undefined && about.some(({ verdict }) => verdict === 'stillAttached');
    return chosen.subnetsComplete && deselected && (edited || allowed);
  }
  if (observation.servers.some(({ id, status }) => id === serverId && status === 'DELETED'))
    return true;
  return about.some(({ verdict }) =>
    ['attachedElsewhere', 'portGone', 'serverDeleted'].includes(verdict),
  );
}

/** Whether a selected subnet of the port's own network has an address of it; Neutron gives a port no other addresses. */
function isSelected({ networkId, fixedIps }: Port, { observation, selection: chosen }: PlanInput) {
  const foreign = observation.subnets.filter((subnet) => subnet.networkId !== networkId);
  return fixedIps.some(
    ({ subnetId }) =>
      chosen.subnetIds.includes(subnetId) && !foreign.some(({ id }) => id === subnetId),
  );
}

/** Whether the NIC's own subnet was taken out of the ids that its own CR names. */
function isEdited(
  node: ExistingNodeConfig,
  nic: InterfaceSpec,
  { selection: chosen }: PlanInput,
): boolean {
  const own = node.source?.uid === owner.uid && !isForeign(node);
  const { subnetId } = nic;
  return own && chosen.pinned.subnets && !!subnetId && !chosen.subnetIds.includes(subnetId);
}

/**
 * Returns whether a port has the id of a NIC and the MAC address of another NIC: the second NIC is decided about only
 * after the first has left.
 */
function hasTwoIdentities({ observation, held }: PlanInput): boolean {
  const nics = held.flatMap(({ spec }) => spec.interfaces ?? []);
  return observation.ports.some(
    ({ id, macAddress }) =>
      nics.some((nic) => nic.portId === id && nic.macAddress !== macAddress) &&
      nics.some((nic) => nic.portId !== id && nic.macAddress === macAddress),
  );
}

describe('the plan', () => {
  it('has nothing left to do once it was applied', () => {
    fc.assert(
      fc.property(world, (given) => {
        fc.pre(!hasTwoIdentities(given));
        const after = { ...given, held: applied(given.held, calculate(given)) };
        const again = calculate(after).nodes.filter(({ action }) => action !== 'none');
        expect(again).toEqual([]);
      }),
      { numRuns },
    );
  });

  it('after an upgrade changes only objects of which there is more to say, and says nothing else', () => {
    let changed = 0;
    fc.assert(
      fc.property(world, (given) => {
        fc.pre(!hasTwoIdentities(given));
        const settled = applied(given.held, calculate(given));
        const held = settled.map((node) => ({ ...node, spec: withoutSubnets(node.spec) }));
        for (const { action, base, interfaces } of calculate({ ...given, held }).nodes) {
          if (action === 'none') continue;
          changed++;
          const before = held.find(({ uid }) => uid === base?.uid);
          expect(action).toBe('post');
          expect(withoutSubnets({ interfaces: [...interfaces] })).toEqual({
            interfaces: before?.spec.interfaces,
          });
          const told = interfaces.flatMap(({ subnets = [] }) => subnets);
          expect(told).not.toEqual([]);
          for (const one of told) expect(one.gateway ?? one.routes?.length).toBeTruthy();
        }
      }),
      // One world in a hundred has more to say.
      { numRuns: 10 * numRuns },
    );
    expect(changed).toBeGreaterThan(0);
  });

  it('never moves a name that can be used', () => {
    fc.assert(
      fc.property(world, (given) => {
        fc.pre(!hasTwoIdentities(given));
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

  it('keeps every budget by named removals, and removes no NIC as a side effect', () => {
    const bases = new Set<string>();
    fc.assert(
      fc.property(world, (given) => {
        const { nodes, budgets } = calculate(given);
        const going = nodes.filter(({ action }) => action !== 'none');
        const found = going.flatMap(({ removals }) => removals.confirmed.map(({ basis }) => basis));
        for (const basis of found) bases.add(basis);
        expect(found).not.toContain('sideEffect');
        if (!given.consent) expect(found).not.toContain('consent');
        if (!found.includes('named')) return;
        for (const { used, allowed } of budgets) expect(used).toBeLessThanOrEqual(allowed);
      }),
      { numRuns },
    );
    expect([...bases].toSorted()).toEqual(['consent', 'evidence', 'named']);
  });

  it('deletes only own objects of servers that the CR does not name', () => {
    fc.assert(
      fc.property(world, (given) => {
        for (const { action, base, instanceId } of calculate(given).nodes) {
          if (action !== 'delete') continue;
          const node = given.held.find(({ uid }) => uid === base?.uid);
          expect(node?.source).toMatchObject({ namespace: owner.namespace, name: owner.name });
          // Whoever made the OpenstackConfig again has deselected nothing by it.
          const isMeant = given.consent !== undefined || hasLeft(instanceId, given);
          if (node && isRemade(node)) expect(isMeant).toBe(true);
          expect(given.selection.serverIds).not.toContain(instanceId);
          expect(given.selection.pinned.servers || hasLeft(instanceId, given)).toBe(true);
        }
      }),
      { numRuns },
    );
  });

  it('leaves objects of others alone', () => {
    fc.assert(
      fc.property(world, (given) => {
        const foreign = given.held.filter(isForeign);
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

  it('of two CRs on one business cluster never touches what the other delivers', () => {
    const other: Owner = { ...owner, name: 'beside', uid: 'beside-uid' };
    const twoWorlds = fc.record({
      mine: world,
      theirs: world,
      rounds: fc.integer({ min: 1, max: 4 }),
    });
    fc.assert(
      fc.property(twoWorlds, ({ mine, theirs, rounds }) => {
        let nodes = mine.held;
        for (let round = 0; round < rounds; round++) {
          for (const given of [mine, { ...theirs, owner: other }]) {
            const before = nodes.filter(({ source }) => source && source.name !== given.owner.name);
            nodes = applied(nodes, calculate({ ...given, held: nodes }), given.owner);
            expect(nodes).toEqual(expect.arrayContaining(before));
          }
        }
      }),
      { numRuns },
    );
  });

  it('removes nothing of a node for an account that sees less than the one before', () => {
    const seesLess = fc.record({
      given: world,
      sees: fc.func(fc.boolean()),
      readable: fc.boolean(),
    });
    fc.assert(
      fc.property(seesLess, ({ given: some, sees, readable }) => {
        fc.pre(!hasTwoIdentities(some));
        const settled = { ...some, held: applied(some.held, calculate(some)), evidence: [] };
        const { observation } = settled;
        const given: PlanInput = {
          ...settled,
          observation: {
            ...observation,
            servers: observation.servers.filter(
              ({ id, status }) => status !== 'DELETED' && sees(id),
            ),
            missingServers: settled.selection.serverIds.filter((id) => !sees(id)),
            ports: observation.ports.filter(({ id }) => sees(id)),
            // A shared subnet is read by every account, which proves nothing.
            subnets: readable ? observation.subnets : [],
          },
        };
        const asked = calculate(given).ask.map((one) => ({
          ...one,
          verdict: 'unconfirmed' as const,
        }));
        const plan = calculate({ ...given, evidence: asked });
        for (const { base, removals } of plan.nodes) {
          const before = given.held.find(({ uid }) => uid === base?.uid);
          for (const { portId } of removals.confirmed) {
            if (portId && !sees(portId)) expect(isDeselected(before, given)).toBe(true);
          }
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

  it('equals a plan from scratch when it follows the plan of a similar world', () => {
    const following = fc.record({
      before: world,
      other: world,
      parts: fc.subarray(['evidence', 'serverEvidence', 'selection', 'consent'] as const),
      lists: fc.subarray(['servers', 'ports', 'subnets', 'networks'] as const),
      nodes: fc.func(fc.boolean()),
    });
    let kept = 0;
    fc.assert(
      fc.property(following, ({ before, other, parts, lists, nodes }) => {
        const held = before.held.map((node, at) => (nodes(at) ? node : (other.held[at] ?? node)));
        const observation = { ...before.observation, ...pick(other.observation, lists) };
        const given = { ...before, held, observation, ...pick(other, parts) };
        const { nodePlans } = calculated(before);
        const after = calculated(given, nodePlans);
        expect(after.plan).toEqual(calculate(given));
        for (const [id, { outcome }] of after.nodePlans?.nodes ?? [])
          if (nodePlans?.nodes.get(id)?.outcome === outcome) kept++;
      }),
      { numRuns: 5 * numRuns },
    );
    expect(kept).toBeGreaterThan(0);
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

function calculated(given: PlanInput, former?: NodePlans): Calculation {
  const steps = calculateInSteps(given, former);
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

function pick<T extends object, K extends keyof T>(from: T, keys: readonly K[]): Pick<T, K> {
  return Object.fromEntries(keys.map((key) => [key, from[key]])) as Pick<T, K>;
}

/** Of a server that the CR does not name by its id: whether it was read, and is gone or not selected. */
function hasLeft(serverId: string, { selection: chosen, serverEvidence }: PlanInput): boolean {
  const read = serverEvidence.find((one) => one.serverId === serverId)?.verdict;
  return chosen.serversComplete && (read === 'left' || read === 'deleted');
}

/** The node has NICs that an earlier OpenstackConfig of this name delivered. */
function isRemade({ source, spec }: ExistingNodeConfig): boolean {
  return source?.uid !== owner.uid && (spec.interfaces ?? []).length > 0;
}

/** The CR no longer names the server, or its node has another name now. */
function isDeselected(
  node: ExistingNodeConfig | undefined,
  { selection: chosen }: PlanInput,
): boolean {
  return !chosen.serverIds.includes(node?.spec.instanceId ?? '');
}

function shuffle<T>(list: readonly T[]): fc.Arbitrary<readonly T[]> {
  return fc.shuffledSubarray([...list], { minLength: list.length });
}
