import { describe, expect, it } from 'vitest';
import { calculate } from './calculate.ts';
import type { ServerEvidence } from './observation.ts';
import { entry, existingNode, input, port, type Sample, server } from './sample.ts';

const unpinned = { serverIds: [], pinned: { servers: false, subnets: true } };

/** One delivered server that is not among the selected ones, which are found by name or by what they carry. */
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
  removals: { confirmed: [], unconfirmed: [{ name: 'multinic0', basis: 'proven' }] },
};

describe('a server that is missing among those that were found', () => {
  it('stays until it was read by id', () => {
    expect(planOf(undefined)).toMatchObject({ nodes: [kept], problems: [], askServers: ['s1'] });
  });

  it.each([
    ['left', 'deselected'],
    ['deleted', 'serverDeleted'],
  ] as const)('goes when it is known to be %s', (verdict, cause) => {
    const plan = planOf(verdict);
    expect(plan.nodes).toMatchObject([
      {
        action: 'delete',
        base: { uid: 'uid-1', generation: 1 },
        removals: { confirmed: [{ cause, basis: 'proven' }], unconfirmed: [] },
      },
    ]);
    expect([plan.problems, plan.askServers]).toEqual([[], []]);
  });

  it.each(['selected', 'unconfirmed'] as const)('stays and says so when it is %s', (verdict) => {
    const plan = planOf(verdict);
    expect(plan).toMatchObject({ nodes: [kept], askServers: [] });
    expect(plan.problems).toMatchObject([
      { reason: 'RemovalUnconfirmed', subject: 'node worker-1' },
    ]);
  });

  it.each([undefined, 'left', 'deleted'] as const)(
    'stays, read (%s) or not, while a name is not resolved or the list failed',
    (verdict) => {
      const plan = planOf(verdict, { selection: { serversComplete: false } });
      expect(plan).toMatchObject({ nodes: [kept], problems: [], askServers: [] });
    },
  );

  it('is not asked about when its object names none: nothing could prove it', () => {
    const node = existingNode(1, [entry(1, 0)]);
    const { instanceId: _id, ...spec } = node.spec;
    const plan = planOf(undefined, { held: [{ ...node, spec }] });
    expect(plan.askServers).toEqual([]);
    expect(plan.problems).toMatchObject([{ reason: 'RemovalUnconfirmed' }]);
  });

  it('is asked about once, however many objects it has', () => {
    const twin = { ...existingNode(1, [entry(2, 0)]), nodeName: 'worker-x', uid: 'uid-x' };
    const plan = planOf(undefined, { held: [existingNode(1, [entry(1, 0)]), twin] });
    expect(plan.askServers).toEqual(['s1']);
  });

  it("is nobody's question when it is another CR's", () => {
    const source = { namespace: 'team-b', name: 'other', uid: 'u', generation: 1 };
    expect(planOf(undefined, { held: [existingNode(1, [], { source })] }).askServers).toEqual([]);
  });
});

describe('many servers that leave at once', () => {
  const many = Array.from({ length: 12 }, (_, at) => existingNode(at + 1, [entry(at + 1, 0)]));
  const left = many.map(({ spec }) => ({
    serverId: spec.instanceId ?? '',
    verdict: 'left' as const,
  }));

  function reasons(serverEvidence: readonly ServerEvidence[], removals: 'guarded' | 'allowed') {
    const plan = calculate(
      input({ held: many, selection: unpinned, input: { serverEvidence, removals } }),
    );
    const deleted = plan.nodes.filter(({ action }) => action === 'delete').length;
    return [deleted, ...plan.problems.map(({ reason }) => reason)];
  }

  it('are held until somebody allows it', () => {
    expect(reasons(left, 'guarded')).toEqual([0, 'RemovalHeld']);
    expect(reasons(left, 'allowed')).toEqual([12]);
  });

  it('count before all of them were read, else they would go in portions', () => {
    expect(reasons(left.slice(0, 2), 'guarded')).toEqual([0, 'RemovalHeld']);
    expect(reasons([], 'guarded')).toEqual([0]);
  });
});

it('a node whose name changes keeps its object', () => {
  const sample = {
    ports: [port(1, 's1')],
    selection: { serverIds: ['s1'], nodeNameKey: 'node' },
    servers: [{ id: 's1', name: 'worker-1', status: 'ACTIVE', metadata: { node: 'node-a' } }],
  };
  expect(planOf(undefined, sample).nodes).toMatchObject([{ nodeName: 'worker-1', action: 'none' }]);
});

/** Server 1 has a second object, with a NIC of port `pN`. */
function planOfTwin(n: number, serversComplete = true) {
  const twin = { ...existingNode(1, [entry(n, 1)]), nodeName: 'worker-x', uid: 'uid-x' };
  return planOf(undefined, {
    ports: [port(1, 's1'), port(2, 's1')],
    servers: [server(1)],
    selection: { serverIds: ['s1'], serversComplete },
    held: [existingNode(1, [entry(1, 0)]), twin],
  });
}

describe('a second object for one server', () => {
  it('goes when the server still has its ports: the first object delivers them', () => {
    expect(planOfTwin(2).nodes).toMatchObject([{ action: 'post' }, { action: 'delete' }]);
    expect(planOfTwin(2, false).nodes).toMatchObject([{ action: 'post' }, { action: 'none' }]);
  });

  it('waits for consent when the first object cannot deliver its port', () => {
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

  it('waits for consent when it has a NIC of its own', () => {
    expect(planOfTwin(9).nodes).toMatchObject([{ action: 'post' }, { action: 'none' }]);
    expect(planOfTwin(9).problems).toMatchObject([
      { reason: 'RemovalHeld', subject: 'node worker-x' },
    ]);
  });
});
