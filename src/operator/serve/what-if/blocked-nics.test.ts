import { describe, expect, it } from 'vitest';
import { calculate } from '../../../plan/calculate.ts';
import { entry, existingNode, input, port, type Sample, server } from '../../../plan/sample.ts';
import { blockedNicsIn } from './blocked-nics.ts';

/** Returns the blocked NICs of all nodes in a plan. */
function blockedIn(sample: Sample) {
  const given = input(sample);
  const plan = calculate(given);
  const statuses = new Map(given.held.map(({ nodeName, status }) => [nodeName, status]));
  const ofNode = blockedNicsIn(plan, given);
  return plan.nodes.flatMap((node) => ofNode(node, statuses.get(node.nodeName)));
}

const mac = entry(9, 0).macAddress;

/** Returns a node whose controller keeps a NIC. */
function keeping(code: string, sample: Sample = {}): Sample {
  const conditions = [{ type: 'Ready', status: 'False' as const, reason: 'RemovalHeld' }];
  const status = { conditions, heldRemovals: { code, macs: [mac] } };
  return {
    held: [existingNode(1, [entry(1, 0)], { status })],
    ports: [port(1, 's1')],
    ...sample,
  };
}

describe('blocked NICs in a plan', () => {
  it.each([
    ['OverBudget', { basis: 'named', code: 'OverBudget' }],
    ['SideEffect', { basis: 'sideEffect', code: 'SideEffect' }],
    ['NotKnownYet', { code: 'NotKnownYet' }],
    ['CodeOfLaterVersion', {}],
  ])('a NIC that the controller keeps with code %s is blocked', (code, expected) => {
    expect(blockedIn(keeping(code))).toEqual([{ macAddress: mac, ...expected }]);
  });

  it('a NIC that the controller keeps is not blocked when OpenStack shows its removal', () => {
    const question = { portId: undefined, macAddress: mac, serverId: 's1' };
    const gone = { evidence: [{ ...question, verdict: 'portGone' as const }] };
    expect(blockedIn(keeping('OverBudget', gone))).toEqual([]);
  });

  it('a NIC that the controller keeps is not blocked when a DELETE removes its node', () => {
    expect(blockedIn(keeping('OverBudget', { selection: { serverIds: [] } }))).toEqual([]);
  });

  it('a NIC of a former OpenstackConfig is blocked as a side effect', () => {
    const source = { namespace: 'multinic-system', name: 'osc', uid: 'former', generation: 1 };
    const nodes = [1, 2].map((n) => existingNode(n, [entry(n, 0)], { source }));
    const sample: Sample = {
      selection: { serverIds: ['s1'] },
      servers: [server(1), server(2)],
      held: nodes,
      ports: [port(1, 's1'), port(2, 's2')],
    };
    const { macAddress } = entry(2, 0);
    const code = 'SideEffect';
    expect(blockedIn(sample)).toEqual([
      { name: 'multinic0', macAddress, basis: 'sideEffect', code },
    ]);
  });

  it('a NIC without evidence is not blocked', () => {
    const sample = { held: [existingNode(1, [entry(1, 0)])], ports: [], servers: [server(1)] };
    expect(blockedIn(sample)).toEqual([]);
  });
});
