import { describe, expect, it } from 'vitest';
import { digestsOf } from '../api/held-nics.ts';
import type { ExistingNodeConfig } from '../api/node-configs-http.ts';
import type { BudgetScope } from '../api/removals.ts';
import { calculate } from './calculate.ts';
import type { PlanInput } from './plan.ts';
import {
  budgetsOf,
  entry,
  evidence as evidenceOf,
  existingNode,
  input,
  port,
  type Sample,
  server,
  withConsent,
} from './sample.ts';
import { nicAt } from './view.ts';

function planOf(sample: Sample) {
  return calculate(input(sample));
}

/** Returns a plan input: an edit deselects the subnet for `gone` nodes with one NIC each. */
function deselecting(gone: number, change: Sample['input'] = {}): Sample {
  const numbers = Array.from({ length: gone }, (_, at) => at + 1);
  return {
    selection: { serverIds: numbers.map((n) => `s${n}`), subnetIds: ['sub-b'] },
    servers: numbers.map((n) => server(n)),
    held: numbers.map((n) => existingNode(n, [entry(n, 0)])),
    ports: numbers.map((n) => port(n, `s${n}`)),
    input: { budgets: budgets({ clusterNodes: 500, clusterNics: 500 }), ...change },
  };
}

/** Returns budgets with these totals; the last hour used `used`. */
function budgets(totals: Partial<Record<BudgetScope, number>>, used = 0): PlanInput['budgets'] {
  return budgetsOf(0, used).map((budget) => ({ ...budget, total: totals[budget.scope] ?? 0 }));
}

function keyOf(n: number): string {
  return nicAt(`s${n}`, { portId: `p${n}`, macAddress: entry(n, 0).macAddress });
}

function removedBy(sample: Sample): number {
  const { nodes } = planOf(sample);
  return nodes.reduce((sum, { action, removals }) => {
    return sum + (action === 'none' ? 0 : removals.confirmed.length);
  }, 0);
}

describe('budget of removals', () => {
  const large = { clusterNodes: 500, clusterNics: 500, configNics: 500 };

  it.each<[what: string, removed: number, gone: number, budgets: PlanInput['budgets']]>([
    ['10 NICs of a small OpenstackConfig leave', 10, 10, budgets({ ...large, configNics: 10 })],
    ['11 NICs of a small OpenstackConfig wait', 0, 11, budgets({ ...large, configNics: 11 })],
    ['11 of 60 NICs of an OpenstackConfig leave', 11, 11, budgets({ ...large, configNics: 60 })],
    ['13 of 60 NICs of an OpenstackConfig wait', 0, 13, budgets({ ...large, configNics: 60 })],
    ['11 of 50 NICs of a business cluster wait', 0, 11, budgets({ ...large, clusterNics: 50 })],
    ['4 of 15 nodes of a business cluster wait', 0, 4, budgets({ ...large, clusterNodes: 15 })],
    ['4 of 20 nodes of a business cluster leave', 4, 4, budgets({ ...large, clusterNodes: 20 })],
    ['1 NIC waits after 100 removals within the hour', 0, 1, budgets(large, 100)],
    ['1 NIC leaves after 99 removals within the hour', 1, 1, budgets(large, 99)],
  ])('%s', (_, removed, gone, uses) => {
    const sample = deselecting(gone, { budgets: uses });
    expect(removedBy(sample)).toBe(removed);
    const held = planOf(sample).problems.filter(({ reason }) => reason === 'RemovalHeld');
    expect(held).toHaveLength(removed === 0 ? 1 : 0);
  });

  it('the problem of held removals names code, count, limit and next steps', () => {
    const uses = budgets({ ...large, configNics: 60 }, 2);
    const plan = planOf(deselecting(11, { budgets: uses }));
    expect(plan.problems).toEqual([
      {
        reason: 'RemovalHeld',
        subject: 'spec',
        message:
          'OverBudget: 13 of 60 NICs of this OpenstackConfig would be removed within an hour, more than the 12 that need no consent; to remove them, set the annotation multinic.io/allow-removals to a new value; to keep them, undo the edit',
      },
    ]);
    expect(plan.heldRemovals).toBe(11);
    expect(plan.budgets.find(({ scope }) => scope === 'configNics')).toEqual({
      scope: 'configNics',
      used: 13,
      total: 60,
      allowed: 12,
    });
  });

  it.each([
    ['an earlier sync held removals of this generation', 'held', 'an earlier sync of this'],
    ['status.removals is unreadable', 'unreadable', 'status.removals cannot be read'],
  ] as const)('one removal within the budget waits when %s', (_, removals, text) => {
    const plan = planOf(deselecting(1, { removals }));
    expect(plan.problems).toMatchObject([
      { reason: 'RemovalHeld', message: expect.stringContaining(text) as unknown },
    ]);
    expect(plan.nodes).toMatchObject([{ action: 'none', interfaces: [entry(1, 0)] }]);
  });

  it('a recorded removal that was not carried out counts once', () => {
    const uses = budgets(large, 100);
    const key = keyOf(1);
    expect(removedBy(deselecting(1, { budgets: uses, recordedNics: [key] }))).toBe(1);
    expect(removedBy(deselecting(2, { budgets: uses, recordedNics: [key] }))).toBe(0);
  });

  it('evidence has no limit behind a native Viola, and counts behind a legacy Viola', () => {
    const twelve = Array.from({ length: 12 }, (_, at) => at + 1);
    const sample = (keepsNodes: boolean): Sample => ({
      held: [existingNode(1, [entry(20, 9), ...twelve.map((n) => entry(n, n % 9))])],
      ports: [port(20, 's1')],
      evidence: twelve.map((n) => evidenceOf(n, 'portGone')),
      input: { keepsNodes, removals: 'held' },
    });
    expect(removedBy(sample(false))).toBe(12);
    expect(removedBy(sample(true))).toBe(0);
  });

  it('NICs without evidence yet count behind a legacy Viola, which prevents removal in portions', () => {
    const twelve = Array.from({ length: 12 }, (_, at) => at + 1);
    const plan = planOf({
      held: [existingNode(1, [entry(20, 9), ...twelve.map((n) => entry(n, n % 9))])],
      ports: [port(20, 's1')],
      evidence: [evidenceOf(1, 'portGone')],
      input: { keepsNodes: true },
    });
    expect(plan.ask).toHaveLength(11);
    expect(plan.problems.map(({ reason }) => reason)).toContain('RemovalHeld');
  });

  it('held removals prevent taking over an object whose NICs the takeover would remove', () => {
    const { source: _source, ...legacy } = existingNode(3, [entry(20, 0, { subnetId: 'sub-c' })]);
    const moved = port(20, 's3', { fixedIps: [{ subnetId: 'sub-c', ipAddress: '10.0.30.20' }] });
    const many = deselecting(2, { removals: 'held' });
    const plan = planOf({
      ...many,
      selection: { ...many.selection, serverIds: ['s1', 's2', 's3'] },
      servers: [server(1), server(2), server(3)],
      held: [...(many.held ?? []), legacy],
      ports: [...(many.ports ?? []), moved],
    });
    expect(plan.nodes[2]).toMatchObject({ action: 'none', why: 'removals wait for consent' });
  });

  it('a second plan in the same sync removes only NICs from the first plan', () => {
    const decided = new Map([
      [keyOf(1), 'named'],
      [keyOf(2), 'consent'],
    ] as const);
    const { nodes, problems } = planOf(withConsent(deselecting(3, { decided })));
    expect(nodes.map(({ removals }) => removals.confirmed.map(({ basis }) => basis))).toEqual([
      ['named'],
      ['consent'],
      [],
    ]);
    expect(problems).toEqual([]);
  });
});

/** Returns the digests of the NICs that a sync holds when it would remove NICs of these servers. */
function heldOf(gone: number): string {
  return digestsOf(planOf(deselecting(gone, { budgets: budgetsOf(gone) })).heldNics);
}

function consentTo(gone: number) {
  return { value: 'yes', digests: gone === 0 ? '' : heldOf(gone), isStored: false };
}

/** Returns a plan input: an edit deselects a server while removals wait. */
function deselectingHeld(more: Partial<ExistingNodeConfig> = {}): Sample {
  return {
    selection: { serverIds: [] },
    held: [existingNode(1, [entry(1, 0)], more)],
    input: { removals: 'held' },
  };
}

describe('consent', () => {
  it.each([
    { held: 11, wanted: 11, removed: 11 },
    { held: 12, wanted: 11, removed: 11 },
    { held: 11, wanted: 12, removed: 11 },
    { held: 0, wanted: 11, removed: 0 },
  ])(
    'a consent to $held held NICs releases $removed of $wanted removals',
    ({ held, wanted, removed }) => {
      const consent = consentTo(held);
      const sample = deselecting(wanted, { budgets: budgetsOf(wanted), consent });
      expect(removedBy(sample)).toBe(removed);
      const { nodes, consentFor, heldNics, problems } = planOf(sample);
      expect(consentFor).toEqual(removed === 0 ? undefined : { nics: removed, nodes: removed });
      const bases = nodes.flatMap(({ removals }) => removals.confirmed.map(({ basis }) => basis));
      expect(bases).toEqual(Array.from({ length: removed }, () => 'consent'));
      expect(heldNics).toHaveLength(wanted - removed);
      const beyond = problems.filter(({ message }) =>
        message.includes('the consent "yes" does not'),
      );
      expect(beyond).toHaveLength(removed === wanted ? 0 : 1);
    },
  );

  it('removals within the budget stay named although a consent is given', () => {
    const { nodes, consentFor } = planOf(deselecting(1, { consent: consentTo(11) }));
    expect(nodes).toMatchObject([{ removals: { confirmed: [{ basis: 'named' }] } }]);
    expect(consentFor).toBeUndefined();
  });

  it.each([
    { isOverBudget: true, action: 'none', problems: ['RemovalHeld'] },
    { isOverBudget: false, action: 'post', problems: [] },
  ])(
    'a NIC held before, above a budget: $isOverBudget, has action $action within the budget',
    ({ isOverBudget, action, problems }) => {
      const plan = planOf(deselecting(1, { storedHold: { digests: heldOf(11), isOverBudget } }));
      expect(plan.problems.map(({ reason }) => reason)).toEqual(problems);
      expect(plan.nodes).toMatchObject([{ action }]);
    },
  );

  it('a DELETE needs consent to all NICs on its node, also to NICs that only the agent reports', () => {
    const [uid, mac] = ['uid-1', entry(9, 0).macAddress];
    const applied = { objectUid: uid, requested: [], knownFrom: { uid, job: 'j' } };
    const knownInterfaces = [{ id: 0, macAddress: mac }];
    const status = { applied, knownInterfaces } as ExistingNodeConfig['status'];
    const { consent } = withConsent(deselectingHeld()).input ?? {};
    const later = deselectingHeld({ ...(status && { status }) });
    const covered = (change: Sample['input']) =>
      planOf({ ...later, input: { ...later.input, ...change } }).nodes;
    expect(covered(consent && { consent })).toMatchObject([{ action: 'none' }]);
    expect(covered(withConsent(later).input)).toMatchObject([
      { action: 'delete', keptNics: [{ macAddress: mac, basis: 'consent' }] },
    ]);
  });
});

describe('a DELETE within the budget', () => {
  it('holds no NIC that only the agent reports', () => {
    const [uid, mac] = ['uid-1', entry(9, 0).macAddress];
    const applied = { objectUid: uid, requested: [], knownFrom: { uid, job: 'j' } };
    const knownInterfaces = [{ id: 0, macAddress: mac }];
    const status = { applied, knownInterfaces } as ExistingNodeConfig['status'];
    const plan = planOf({
      selection: { serverIds: [] },
      held: [existingNode(1, [entry(1, 0)], status && { status })],
    });
    expect(plan).toMatchObject({ nodes: [{ action: 'delete' }], problems: [], heldNics: [] });
    expect(plan.heldRemovals).toBeUndefined();
  });
});

describe('NICs kept by the controller', () => {
  const mac = entry(9, 0).macAddress;
  const ready = [{ type: 'Ready', status: 'False' as const, reason: 'RemovalHeld' }];
  const status = { conditions: ready, heldRemovals: { code: 'OverBudget', macs: [mac] } };
  const question = { portId: undefined, macAddress: mac, serverId: 's1' };
  const keeping = (change: Partial<ExistingNodeConfig> = {}, more: Sample = {}): Sample => ({
    held: [existingNode(1, [entry(1, 0)], { status, ...change })],
    ports: [port(1, 's1')],
    ...more,
  });
  const sent = (basis: 'evidence' | 'consent', value: string) => [
    { uid: 'uid-1', generation: 1, macAddress: mac, basis, value },
  ];

  it('evidence about a kept NIC is requested, and posted once with the unchanged node', () => {
    expect(planOf(keeping())).toMatchObject({ ask: [question], nodes: [{ action: 'none' }] });
    const gone = { evidence: [{ ...question, verdict: 'portGone' as const }] };
    const keptNics = [{ macAddress: mac, basis: 'evidence' }];
    expect(planOf(keeping({}, gone)).nodes).toMatchObject([{ action: 'post', keptNics }]);
    const again = keeping({}, { input: { sentReleases: sent('evidence', '') } });
    expect(planOf(again)).toMatchObject({ ask: [], nodes: [{ action: 'none', keptNics }] });
  });

  it.each<[what: string, sample: Sample]>([
    ['has a port on the server', { ports: [port(1, 's1'), port(9, 's1', { fixedIps: [] })] }],
    ['has no evidence', { evidence: [{ ...question, verdict: 'unconfirmed' }] }],
  ])('a kept NIC stays until consent when it %s', (_, sample) => {
    expect(planOf(keeping({}, sample))).toMatchObject({
      ask: [],
      heldRemovals: 1,
      nodes: [{ action: 'none' }],
    });
    expect(planOf(withConsent(keeping({}, sample)))).toMatchObject({
      consentFor: { nics: 1, nodes: 1 },
      nodes: [{ action: 'post', keptNics: [{ basis: 'consent' }] }],
    });
  });

  it.each([
    ['yes', 'none'],
    ['again', 'post'],
  ])('a consent sent before with value yes leads with value %s to action %s', (value, action) => {
    const release = keeping({}, { input: { sentReleases: sent('consent', 'yes') } });
    expect(planOf(withConsent(release, value)).nodes).toMatchObject([{ action }]);
  });

  it('an earlier controller, which names no kept NIC, gets each consent once', () => {
    const earlier = { status: { conditions: ready } };
    expect(planOf(keeping(earlier)).nodes).toMatchObject([{ action: 'none' }]);
    const [node] = planOf(withConsent(keeping(earlier))).nodes;
    expect(node).toMatchObject({ action: 'post', removalsAllowed: true });
    const [first] = sent('consent', 'yes');
    const sentReleases = first ? [{ ...first, macAddress: '' }] : [];
    const again = keeping(earlier, { input: { sentReleases } });
    expect(planOf(withConsent(again)).nodes).toMatchObject([{ action: 'none' }]);
  });

  it.each(['s1', 's2'])(
    'an object in deletion is reported, and deleted again after consent, while %s is selected',
    (serverId) => {
      const selected = { selection: { serverIds: [serverId] }, servers: [server(1), server(2)] };
      const going = { deletionTimestamp: '2026-01-01T00:00:00Z' };
      const plan = planOf(keeping(going, selected));
      expect(plan.problems).toEqual([
        {
          reason: 'RemovalHeld',
          subject: 'node worker-1',
          message:
            'node worker-1: its MultiNicNodeConfig is being deleted, and the controller keeps 1 NIC (OverBudget); to remove them, set the annotation multinic.io/allow-removals to a new value',
        },
      ]);
      expect(plan.nodes[0]).toMatchObject({ action: 'none', waiting: true });
      expect(planOf(withConsent(keeping(going, selected))).nodes[0]).toMatchObject({
        action: 'delete',
        deleteBasis: 'consent',
      });
    },
  );
});
