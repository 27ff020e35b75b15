import { describe, expect, it } from 'vitest';
import { calculate } from './calculate.ts';
import type { ServerEvidence } from './observation.ts';
import type { PlanInput } from './plan.ts';
import { entry, existingNode, input, port, type Sample, server } from './sample.ts';

const unpinned = { serverIds: [], pinned: { servers: false, subnets: true } };

/** Plans with one delivered server missing from the selection, which selects by name, metadata or tags. */
function planOf(verdict: ServerEvidence['verdict'] | undefined, sample: Sample = {}) {
  const serverEvidence = verdict === undefined ? [] : [{ serverId: 's1', verdict }];
  const { selection, input: more, ...rest } = sample;
  return calculate(
    input({
      held: [existingNode(1, [entry(1, 0)])],
      ...rest,
      selection: { ...unpinned, ...selection },
      input: { serverEvidence, ...more },
    }),
  );
}

const kept = {
  nodeName: 'worker-1',
  action: 'none',
  interfaces: [entry(1, 0)],
  removals: { confirmed: [], unconfirmed: [{ name: 'multinic0', basis: 'evidence' }] },
};

describe('delivered server missing from the selection', () => {
  it("a missing server's NICs stay until the server is read by id", () => {
    expect(planOf(undefined)).toMatchObject({ nodes: [kept], problems: [], askServers: ['s1'] });
  });

  it.each([
    ['left', 'deselected'],
    ['deleted', 'serverDeleted'],
  ] as const)("a missing server's object is deleted when evidence says %s", (verdict, cause) => {
    const plan = planOf(verdict);
    expect(plan.nodes).toMatchObject([
      {
        action: 'delete',
        base: { uid: 'uid-1', generation: 1 },
        removals: { confirmed: [{ cause, basis: 'evidence' }], unconfirmed: [] },
      },
    ]);
    expect([plan.problems, plan.askServers]).toEqual([[], []]);
  });

  it.each(['selected', 'unconfirmed'] as const)(
    "a missing server's NICs stay and are reported when evidence says %s",
    (verdict) => {
      const plan = planOf(verdict);
      expect(plan).toMatchObject({ nodes: [kept], askServers: [] });
      expect(plan.problems).toMatchObject([
        { reason: 'RemovalUnconfirmed', subject: 'node worker-1' },
      ]);
    },
  );

  it.each([undefined, 'left', 'deleted'] as const)(
    "a missing server's NICs stay with evidence %s while the server list is incomplete",
    (verdict) => {
      const plan = planOf(verdict, { selection: { serversComplete: false } });
      expect(plan).toMatchObject({ nodes: [kept], problems: [], askServers: [] });
    },
  );

  it('an object without instanceId is reported without requesting evidence', () => {
    const node = existingNode(1, [entry(1, 0)]);
    const { instanceId: _id, ...spec } = node.spec;
    const plan = planOf(undefined, { held: [{ ...node, spec }] });
    expect(plan.askServers).toEqual([]);
    expect(plan.problems).toMatchObject([{ reason: 'RemovalUnconfirmed' }]);
  });

  it('evidence for a server is requested once, however many objects it has', () => {
    const twin = { ...existingNode(1, [entry(2, 0)]), nodeName: 'worker-x', uid: 'uid-x' };
    const plan = planOf(undefined, { held: [existingNode(1, [entry(1, 0)]), twin] });
    expect(plan.askServers).toEqual(['s1']);
  });

  it('no evidence is requested for an object owned by another OpenstackConfig', () => {
    const source = { namespace: 'team-b', name: 'other', uid: 'u', generation: 1 };
    expect(planOf(undefined, { held: [existingNode(1, [], { source })] }).askServers).toEqual([]);
  });
});

describe('many servers leaving the selection', () => {
  const many = Array.from({ length: 12 }, (_, at) => existingNode(at + 1, [entry(at + 1, 0)]));
  const left = many.map(({ spec }) => ({
    serverId: spec.instanceId ?? '',
    verdict: 'left' as const,
  }));

  function planOfMany(change: Partial<PlanInput>) {
    const plan = calculate(input({ held: many, selection: unpinned, input: change }));
    const deleted = plan.nodes.filter(({ action }) => action === 'delete').length;
    return [deleted, ...plan.problems.map(({ reason }) => reason)];
  }

  it('twelve servers read by id leave without consent behind a native Viola', () => {
    expect(planOfMany({ serverEvidence: left })).toEqual([12]);
  });
});

it('a node with a new name keeps its object', () => {
  const sample = {
    ports: [port(1, 's1')],
    selection: { serverIds: ['s1'], nodeNameKey: 'node' },
    servers: [{ id: 's1', name: 'worker-1', status: 'ACTIVE', metadata: { node: 'node-a' } }],
  };
  expect(planOf(undefined, sample).nodes).toMatchObject([{ nodeName: 'worker-1', action: 'none' }]);
});

/** Plans with a second object for server 1, whose NIC belongs to port `pN`. */
function planOfTwin(n: number, serversComplete = true) {
  const twin = { ...existingNode(1, [entry(n, 1)]), nodeName: 'worker-x', uid: 'uid-x' };
  return planOf(undefined, {
    ports: [port(1, 's1'), port(2, 's1')],
    servers: [server(1)],
    selection: { serverIds: ['s1'], serversComplete },
    held: [existingNode(1, [entry(1, 0)]), twin],
  });
}

describe('second object for a server', () => {
  it('a second object is deleted when the first object delivers its ports', () => {
    expect(planOfTwin(2).nodes).toMatchObject([{ action: 'post' }, { action: 'delete' }]);
    expect(planOfTwin(2, false).nodes).toMatchObject([{ action: 'post' }, { action: 'none' }]);
  });

  it('a second object waits for consent when the first object cannot deliver its port', () => {
    const plan = planOf(undefined, {
      ports: [port(1, 's1'), port(2, 's1', { status: 'BUILD' })],
      servers: [server(1)],
      selection: { serverIds: ['s1'] },
      held: [
        existingNode(1, [entry(1, 0)]),
        { ...existingNode(1, [entry(2, 1)]), nodeName: 'worker-x', uid: 'uid-x' },
      ],
    });
    expect(plan.nodes).toMatchObject([{ action: 'none' }, { action: 'none' }]);
    expect(plan.problems).toMatchObject([{ reason: 'RemovalHeld', subject: 'node worker-x' }]);
  });

  it('a second object waits for consent when its NIC belongs to no delivered port', () => {
    expect(planOfTwin(9).nodes).toMatchObject([{ action: 'post' }, { action: 'none' }]);
    expect(planOfTwin(9).problems).toMatchObject([
      { reason: 'RemovalHeld', subject: 'node worker-x' },
    ]);
  });
});
