import { beforeEach, describe, expect, it } from 'vitest';
import { calculate } from '../../plan/calculate.ts';
import type { PlanInput } from '../../plan/plan.ts';
import { entry, existingNode, input, port, server, subnet } from '../../plan/sample.ts';
import { createFakeClock } from '../../time/fake-clock.ts';
import { PlanMemory } from './plan-memory.ts';

const { signal } = new AbortController();
const key = 'multinic-system/osc';

/** An input in which each list has an item and each optional field a value, and whose plan is at rest. */
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
    serverEvidence: [{ serverId: 's8', verdict: 'deleted' }],
    recorded: [{ instanceId: 's1', interfaces: [entry(1, 0)] }],
    recentRemovals: ['s7 p7'],
    cloudInterfaces: 1,
    keepsNodes: false,
  },
});

type Change = readonly [path: string, changed: unknown];

/** Every value that differs from this one by one leaf, one item less or one field less. */
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

/** Fails to compile when an input gains a field that `full` may lack. */
const everyField: Readonly<Record<keyof PlanInput, true>> = {
  owner: true,
  takeOverFrom: true,
  selection: true,
  scope: true,
  observation: true,
  held: true,
  evidence: true,
  serverEvidence: true,
  recorded: true,
  cloudInterfaces: true,
  recentRemovals: true,
  removals: true,
  keepsNodes: true,
  force: true,
};

let memory: PlanMemory;

beforeEach(() => {
  memory = new PlanMemory(createFakeClock());
});

const plan = async (of: PlanInput, whose = key) => memory.plan(whose, of, signal);

describe('the plan of an OpenstackConfig', () => {
  it('is reused for an equal input, and is the plan of that input', async () => {
    const first = await plan(full);
    expect(first).toEqual(calculate(full));
    expect(await plan(structuredClone(full))).toBe(first);
    expect(await plan(full, 'multinic-system/other')).not.toBe(first);
    expect(await plan(full)).toBe(first);
    memory.forget(key);
    expect(await plan(full)).not.toBe(first);
  });

  it('is made again after a change of any value in its input', async () => {
    const reused: string[] = [];
    for (const [path, changed] of changesOf(full, '')) {
      const known = await plan(full);
      // Some of these inputs have no valid form: what counts is that they are planned.
      const second = await plan(changed as PlanInput).catch((error: unknown) => error);
      if (second === known) reused.push(path);
    }
    expect(reused).toEqual([]);
  });

  it('is made again after a change of any field of its input', () => {
    const fields = Object.keys(everyField);
    const changed = changesOf(full, '').map(([path]) => path);
    expect(Object.keys(full).toSorted()).toEqual(fields.toSorted());
    for (const field of fields) expect(changed).toContain(`without ${field}`);
    expect(changed.length).toBeGreaterThan(120);
  });

  it.each<[string, PlanInput]>([
    ['sends a node', input({ ports: [port(1, 's1')] })],
    ['is forced to send', { ...full, force: true }],
    ['asks for evidence of a port', input({ held: [existingNode(1, [entry(1, 0)])] })],
    [
      'asks whether a server left the selection',
      input({
        selection: { pinned: { servers: false, subnets: true }, serverIds: [] },
        held: [existingNode(1, [entry(1, 0)])],
      }),
    ],
    [
      'waits for an object to go',
      input({
        ports: [port(1, 's1')],
        held: [existingNode(1, [], { deletionTimestamp: '2026-01-01T00:00:00Z' })],
      }),
    ],
  ])('is made again at the next poll when it %s', async (_, of) => {
    const first = await plan(of);
    expect(await plan(of)).not.toBe(first);
    expect(await plan(of)).toEqual(first);
  });

  it('is remembered for 20,000 ports of all OpenstackConfigs together', async () => {
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
