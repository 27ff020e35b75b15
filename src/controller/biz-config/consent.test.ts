import { expect, it } from 'vitest';
import { bizNode, system } from '../../../test/fixtures/biz-samples.ts';
import { readBizConfig } from '../../biz-config/biz-config.ts';
import { type NodeConfig, readNodeConfig } from '../objects/stores.ts';
import type { Observed } from './holders.ts';
import { planExpansion } from './plan.ts';

const at = '2026-11-26T10:00:00Z';
const marks = { group: 'multinic.io', name: 'all', uid: 'u', generation: 4 } as const;

function observed(status: object, labelled: readonly NodeConfig[], spec: object): Observed {
  const annotations = { 'multinic.io/allow-removals': 'yes' };
  const metadata = { name: 'all', namespace: system, uid: 'u', generation: 4, annotations };
  return {
    source: readBizConfig({ metadata, spec, status }),
    marks,
    labelled,
    find: ({ objectName }) => labelled.filter(({ metadata: { name } }) => name === objectName),
    isForeign: () => false,
  };
}

/** Nodes of the first list, each with NICs 1 and 2. */
const before = [1, 2, 3, 4, 5].map((n) => bizNode(n, [1, 2]));
/** Node 1 loses a NIC, node 2 stays; nodes 3 and 4 are no longer listed. */
const after = [bizNode(1, [1]), bizNode(2, [1, 2]), bizNode(5, [1, 2])];
const held = [{ type: 'Ready', status: 'False', reason: 'RemovalHeld', observedGeneration: 1 }];

/**
 * Returns the objects of the first list. The controller holds an earlier NIC of node 2, the deletion of node 4, and
 * the deletion of node 5, which is still listed.
 */
function objects(change: Readonly<Record<string, object>>): NodeConfig[] {
  const { nodes } = planExpansion(observed({}, [], { nodeConfigs: before }), new Date());
  return nodes.flatMap(({ step }) => {
    if (step.kind !== 'write') return [];
    const { metadata, spec } = step.write;
    const isHeld = ['w-2', 'w-4', 'w-5'].includes(metadata.name);
    const isDeleted = ['w-4', 'w-5'].includes(metadata.name);
    const deletion = isDeleted ? { deletionTimestamp: '2026-11-26T10:30:00Z' } : {};
    const heldRemovals = { macs: metadata.name === 'w-2' ? ['02:00:00:00:02:09'] : [] };
    return readNodeConfig({
      metadata: {
        ...metadata,
        uid: `uid of ${metadata.name}`,
        generation: 1,
        ...deletion,
        ...change[metadata.name],
      },
      spec,
      status: isHeld ? { observedGeneration: 1, conditions: held, heldRemovals } : {},
    });
  });
}

const noConsent = ['w-1 -', 'held w-2 w-4 w-5'];
const allowed = {
  observedGeneration: 4,
  allowedRemovals: 'yes',
  allowedRemovalsGeneration: 4,
  allowedRemovalsAt: at,
};

it.each<[when: string, status: object, now: string, change: object, wanted: readonly string[]]>([
  [
    'the value was handled for this generation',
    allowed,
    '2026-11-26T11:00:00Z',
    {},
    ['w-1 02:00:00:00:01:02', 'w-2 02:00:00:00:02:09', 'delete w-4', 'held w-2 w-4 w-5'],
  ],
  [
    'a listed object was deleted before the value was handled',
    allowed,
    '2026-11-26T11:00:00Z',
    { 'w-5': { deletionTimestamp: at } },
    [
      'w-1 02:00:00:00:01:02',
      'w-2 02:00:00:00:02:09',
      'delete w-4',
      'delete w-5',
      'held w-2 w-4 w-5',
    ],
  ],
  ['the value is older than an hour', allowed, '2026-11-26T11:00:01Z', {}, noConsent],
  [
    'the value was for another generation',
    { ...allowed, allowedRemovalsGeneration: 3 },
    at,
    {},
    noConsent,
  ],
  ['another value was handled', { ...allowed, allowedRemovals: 'earlier' }, at, {}, noConsent],
  [
    'an earlier version stored no time',
    { ...allowed, allowedRemovalsAt: undefined },
    at,
    {},
    noConsent,
  ],
])('the plan passes on only an open consent when %s', (_when, status, now, change, wanted) => {
  const config = observed(status, objects(change as never), { nodeConfigs: after });
  const plan = planExpansion(config, new Date(now));
  const writes = plan.nodes.flatMap(({ step }) => (step.kind === 'write' ? [step.write] : []));
  expect([
    ...[...writes, ...plan.editConsents].map(
      ({ metadata }) => `${metadata.name} ${consentIn(metadata.annotations)}`,
    ),
    ...plan.deletionConsents.map(({ metadata }) => `delete ${metadata.name}`),
    `held ${plan.heldByController.join(' ')}`,
  ]).toEqual(wanted);
  expect(plan.deletions.map(({ metadata }) => metadata.name)).toEqual(['w-3']);
});

function consentIn(annotations: Readonly<Record<string, string>>): string {
  const text = annotations['multinic.io/removal-consent'];
  if (text === undefined) return '-';
  const consent = JSON.parse(text) as { readonly at: string; readonly consented: string[] };
  expect(consent.at).toBe(at);
  return consent.consented.join(' ');
}

it('an object with the consent is no longer named as held', () => {
  const spec = { nodeConfigs: after };
  const first = planExpansion(observed(allowed, objects({}), spec), new Date(at));
  const { annotations } = first.editConsents[0]?.metadata ?? {};
  const consented = { 'w-2': { annotations } };
  const plan = planExpansion(observed(allowed, objects(consented), spec), new Date(at));
  expect([plan.heldByController, plan.editConsents]).toEqual([['w-4', 'w-5'], []]);
});
