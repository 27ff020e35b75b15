import * as fc from 'fast-check';
import type { InterfaceSpec } from '../../src/api/multinicnodeconfig.ts';
import type { ExistingNodeConfig } from '../../src/api/node-configs-http.ts';
import type { Port, PortEvidence, ServerEvidence } from '../../src/plan/observation.ts';
import type { PlanInput } from '../../src/plan/plan.ts';
import {
  budgetsOf,
  entry,
  evidence as evidenceOf,
  existingNode,
  input,
  owner,
  port,
  type Sample,
  selection,
  server,
  withConsent,
} from '../../src/plan/sample.ts';

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
    addresses: fc.constantFrom<'one' | 'none' | 'foreign' | 'two' | 'both'>(
      'one',
      'none',
      'foreign',
      'two',
      'both',
    ),
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
      both: [...port(made.n, '', {}, 'a').fixedIps, ...port(made.n, '', {}, 'b').fixedIps],
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

const sources: readonly (ExistingNodeConfig['source'] | undefined)[] = [
  { ...owner, generation: 1 },
  { ...owner, generation: 1 },
  undefined,
  { ...owner, uid: 'older-uid', generation: 1 },
  { namespace: 'team-b', name: 'other', uid: 'other', generation: 1 },
  { ...owner, name: 'beside', uid: 'beside-uid', generation: 1 },
  { ...owner, namespace: 'team-b', uid: 'elsewhere-uid', generation: 1 },
];

/** Whether an object is another CR's: of the same namespace, or of the same name elsewhere. */
export function isForeign({ source }: ExistingNodeConfig): boolean {
  return (
    source !== undefined && (source.namespace !== owner.namespace || source.name !== owner.name)
  );
}

const someHeld = fc
  .record({
    n: fc.integer({ min: 1, max: 6 }),
    entries: someEntries,
    source: fc.constantFrom(...sources),
    leaving: fc.uniqueArray(fc.integer({ min: 0, max: 9 }), { maxLength: 3 }),
    deleting: fc.integer({ min: 0, max: 9 }).map((n) => n === 0),
  })
  .map(({ n, entries, source, leaving, deleting }): ExistingNodeConfig => {
    const { source: _source, ...node } = existingNode(n, entries);
    const statuses = leaving.map((id) => ({ id, portId: `gone-${id}` }));
    return {
      ...node,
      ...(source ? { source } : {}),
      ...(deleting ? { deletionTimestamp: '2026-01-01T00:00:00Z' } : {}),
      status: { interfaceStatuses: statuses },
    };
  });

const someEvidence = fc.uniqueArray(
  fc
    .record({
      n: portNumber,
      named: fc.boolean(),
      at: serverNumber,
      verdict: fc.constantFrom<PortEvidence['verdict']>(
        'stillAttached',
        'attachedElsewhere',
        'portGone',
        'serverDeleted',
        'unconfirmed',
      ),
    })
    .map(({ n, named, at, verdict }): PortEvidence => {
      const read = evidenceOf(n, verdict, `s${at}`);
      return named ? read : { ...read, portId: undefined };
    }),
  {
    maxLength: 12,
    selector: ({ portId, macAddress, serverId }) => `${serverId}/${portId ?? macAddress}`,
  },
);

const someServerEvidence = fc.uniqueArray(
  fc.record({
    serverId: fc.integer({ min: 1, max: 6 }).map((n) => `s${n}`),
    verdict: fc.constantFrom<ServerEvidence['verdict']>(
      'left',
      'deleted',
      'selected',
      'unconfirmed',
    ),
  }),
  { maxLength: 6, selector: ({ serverId }) => serverId },
);

/** The input of a plan in a world that may hold anything. */
export const world = fc
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
    proofs: someEvidence,
    ofServers: someServerEvidence,
    serversComplete: fc.integer({ min: 0, max: 3 }).map((n) => n > 0),
    hasConsent: fc.boolean(),
    used: fc.constantFrom(0, 100),
  })
  .map((made): PlanInput => {
    const servers = made.known.map((n) =>
      server(n, { status: n === made.deleted ? 'DELETED' : 'ACTIVE' }),
    );
    const { subnetIds, subnetsComplete, pinned, maxInterfaces } = made;
    // Only names, and lists of what servers carry, can be unresolved.
    const serversComplete = made.serversComplete || pinned.servers;
    const serverIds = made.selected.map((n) => `s${n}`);
    const sample: Sample = {
      selection: {
        ...selection,
        serverIds,
        serversComplete,
        subnetIds,
        subnetsComplete,
        pinned,
        maxInterfaces,
      },
      servers,
      ports: made.ports,
      observation: { networks: made.networks },
      held: made.held,
      evidence: made.proofs,
      input: {
        budgets: budgetsOf(made.used, made.used),
        serverEvidence: made.ofServers,
      },
    };
    return input(made.hasConsent ? withConsent(sample) : sample);
  });
