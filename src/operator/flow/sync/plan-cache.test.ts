import { beforeEach, describe, expect, it } from 'vitest';
import { calculate } from '../../../plan/calculate.ts';
import type { ExistingNode, PlanInput } from '../../../plan/plan.ts';
import {
  budgetsOf,
  entry,
  existingNode,
  input,
  port,
  server,
  subnet,
} from '../../../plan/sample.ts';
import { createFakeClock } from '../../../time/fake-clock.ts';
import { PlanCache } from './plan-cache.ts';

const { signal } = new AbortController();
const key = 'multinic-system/osc';

/** An input with an item in each list and a value in each optional field; its plan is at rest. */
const full = input({
  selection: { statuses: ['ACTIVE', 'DOWN'], nodeNameKey: 'name' },
  servers: [server(1, { metadata: { name: 'worker-1' } })],
  ports: [port(1, 's1')],
  observation: {
    missingServers: ['s9'],
    unreadablePorts: ['p9'],
    subnets: [
      subnet('a', {
        name: 'lan',
        hostRoutes: [{ destination: '10.9.0.0/16', nexthop: '10.0.10.2' }],
      }),
    ],
    networks: [{ id: 'net-a', name: 'net', mtu: 1450 }],
  },
  held: [
    existingNode(1, [entry(1, 0, { routes: [{ to: '10.9.0.0/16', via: '10.0.10.2' }] })], {
      labelledInstanceId: 's1',
      status: {
        state: 'Configured',
        observedGeneration: 1,
        knownInterfaces: [{ id: 0, macAddress: 'fa:16:3e:00:00:01' }],
      },
    }),
  ],
  evidence: [
    { portId: 'p8', macAddress: 'fa:16:3e:00:00:08', serverId: 's1', verdict: 'portGone' },
  ],
  input: {
    takeOverFrom: 'other/osc',
    leftSources: ['other-uid'],
    takesUnowned: false,
    storesIdentity: true,
    serverEvidence: [{ serverId: 's8', verdict: 'deleted' }],
    recorded: [{ instanceId: 's1', interfaces: [entry(1, 0)] }],
    budgets: budgetsOf(1).map((budget) => ({ ...budget, freeAt: '2026-01-01T01:00:00Z' })),
    recordedNics: ['s7 p7'],
    storedHold: { digests: 'abcdef01', isOverBudget: false },
    consent: { value: 'yes', digests: 'abcdef01', isStored: false },
    refusal: 'no',
    sentReleases: [{ uid: 'u', generation: 1, macAddress: 'm', basis: 'consent', value: 'yes' }],
    clusterNetworks: [{ cidr: '10.96.0.0/12', use: 'Services', source: 'ServiceCIDR' }],
    observes: false,
    adoption: 'unknown',
    keepsNodes: false,
  },
});

type Change = readonly [path: string, changed: unknown];

/** Returns every value with one leaf changed, one item removed or one field removed. */
function changesOf(value: unknown, path: string): Change[] {
  if (Array.isArray(value)) {
    const items = value as readonly unknown[];
    return [
      [`${path} without its last item`, items.slice(0, -1)],
      ...items.flatMap((item, at) =>
        changesOf(item, `${path}[${at}]`).map(
          ([where, one]): Change => [where, items.with(at, one)],
        ),
      ),
    ];
  }
  if (typeof value === 'object' && value !== null) {
    return Object.entries(value).flatMap(([name, inner]) => {
      const rest = Object.entries(value).filter(([other]) => other !== name);
      const where = path === '' ? name : `${path}.${name}`;
      return [
        [`without ${where}`, Object.fromEntries(rest)] as const,
        ...changesOf(inner, where).map(([at, one]): Change => [at, { ...value, [name]: one }]),
      ];
    });
  }
  if (typeof value === 'number') return [[path, value + 1]];
  if (typeof value === 'boolean') return [[path, !value]];
  return [[path, `${String(value)}x`]];
}

/** Fails to compile when PlanInput gains a field that `full` may lack. `decided` is for plans without cache. */
const everyField: Readonly<Record<Exclude<keyof PlanInput, 'decided'>, true>> = {
  owner: true,
  providerId: true,
  storedHold: true,
  refusal: true,
  takeOverFrom: true,
  leftSources: true,
  takesUnowned: true,
  storesIdentity: true,
  selection: true,
  scope: true,
  observation: true,
  held: true,
  evidence: true,
  serverEvidence: true,
  recorded: true,
  budgets: true,
  recordedNics: true,
  removals: true,
  consent: true,
  sentReleases: true,
  clusterNetworks: true,
  observes: true,
  adoption: true,
  keepsNodes: true,
  force: true,
};

function outcomeOf(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    return String(error);
  }
}

let plans: PlanCache;

beforeEach(() => {
  plans = new PlanCache(createFakeClock());
});

const plan = async (of: PlanInput, whose = key) => (await plans.plan(whose, of, signal)).plan;

describe('PlanCache', () => {
  it('PlanCache reuses the plan for an equal input, and the plan equals calculate(input)', async () => {
    const first = await plan(full);
    expect(first).toEqual(calculate(full));
    expect(await plan(structuredClone(full))).toBe(first);
    expect(await plan(full, 'multinic-system/other')).not.toBe(first);
    expect(await plan(full)).toBe(first);
    plans.leave(key);
    expect(await plan(full)).not.toBe(first);
  });

  it('PlanCache calculates the plan again after any input value changes', async () => {
    const reused: string[] = [];
    for (const [path, changed] of changesOf(full, '')) {
      const known = await plan(full);
      // Some changed inputs are invalid; only the recalculation matters.
      const second = await plan(changed as PlanInput).catch((error: unknown) => error);
      if (second === known) reused.push(path);
    }
    expect(reused).toEqual([]);
  });

  it('a plan after any change equals calculate(input): unchanged nodes keep only valid plans', async () => {
    // No evidence and no record of the node: its plan may be kept.
    const own: PlanInput = {
      ...full,
      evidence: full.evidence.map((one) => ({ ...one, serverId: 's8' })),
      recorded: full.recorded.map((one) => ({ ...one, instanceId: 's8' })),
    };
    const [node] = full.held;
    const before = { ...own, held: [{ ...node, deletionTimestamp: 'now' } as ExistingNode] };
    for (const [path, changed] of changesOf(own, '')) {
      const wanted = outcomeOf(() => calculate(changed as PlanInput));
      // The first plan is not at rest, so the second one begins with its node plans.
      for (const first of [before, own]) {
        await plan(first).catch(() => undefined);
        await plan({ ...first, force: true });
        await plan(first);
        const second = await plan(changed as PlanInput).catch((error: unknown) => String(error));
        expect([path, second]).toEqual([path, wanted]);
      }
    }
  });

  it('PlanCache plans a node again when only the status of its server changes', async () => {
    const gone = { ports: [], held: [existingNode(1, [entry(1, 0)])] };
    await plan(input({ ...gone, servers: [server(1)] }));
    const deleted = input({ ...gone, servers: [server(1, { status: 'DELETED' })] });
    expect(await plan(deleted)).toEqual(calculate(deleted));
  });

  it('the change test covers every field in PlanInput', () => {
    const fields = Object.keys(everyField);
    const changed = changesOf(full, '').map(([path]) => path);
    expect(Object.keys(full).toSorted()).toEqual(fields.toSorted());
    for (const field of fields) expect(changed).toContain(`without ${field}`);
    expect(changed.length).toBeGreaterThan(120);
  });

  it.each<[string, PlanInput]>([
    ['sends a node', input({ ports: [port(1, 's1')] })],
    ['is forced to send', { ...full, force: true }],
    ['needs port evidence', input({ held: [existingNode(1, [entry(1, 0)])] })],
    [
      'needs evidence about a deselected server',
      input({
        selection: { pinned: { servers: false, subnets: true }, serverIds: [] },
        held: [existingNode(1, [entry(1, 0)])],
      }),
    ],
    [
      'waits for an object deletion',
      input({
        ports: [port(1, 's1')],
        held: [existingNode(1, [], { deletionTimestamp: '2026-01-01T00:00:00Z' })],
      }),
    ],
  ])('PlanCache calculates the plan again at the next poll when the plan %s', async (_, of) => {
    const first = await plan(of);
    expect(await plan(of)).not.toBe(first);
    expect(await plan(of)).toEqual(first);
  });

  it('PlanCache stores plans for at most 20,000 ports across all OpenstackConfigs', async () => {
    const ports = Array.from({ length: 12_000 }, (_, n) =>
      port(n % 200, 's1', { id: `p${n}`, fixedIps: [] }),
    );
    const large = input({ ports, selection: { statuses: 'any' } });
    const first = await plan(large, 'a');
    const second = await plan(large, 'b');
    expect(await plan(large, 'a')).toBe(first);
    expect(await plan(large, 'b')).not.toBe(second);
  });
});
