import { describe, expect, it } from 'vitest';
import type { Source } from '../api/node-configs-http.ts';
import { calculate } from './calculate.ts';
import { type Ownership, ownershipOf } from './ownership.ts';
import type { Owner } from './plan.ts';
import { entry, evidence, existingNode, input, owner, port, type Sample } from './sample.ts';

const us: Owner = { ...owner, cluster: 'here', cloud: 'keystone:443/project' };
const ours: Source = { ...owner, generation: 1, cluster: 'here', cloud: 'keystone:443/project' };
const restored = { ...ours, uid: 'earlier-uid' };

describe('ownershipOf', () => {
  it.each<[string, Source | undefined, Ownership]>([
    ['written for this OpenstackConfig', ours, 'own'],
    ['written for an earlier one with this name', restored, 'own'],
    ['written before sources named clusters', { ...owner, generation: 1 }, 'own'],
    [
      'written for an earlier one before sources named clusters',
      { ...owner, uid: 'earlier-uid', generation: 1 },
      'own',
    ],
    ['written in another management cluster', { ...restored, cluster: 'there' }, 'otherCluster'],
    [
      'written in another management cluster for another name',
      { ...restored, name: 'other', cluster: 'there' },
      'otherCluster',
    ],
    ['written for another name', { ...restored, name: 'other' }, 'other'],
    ['written for a later one with this name', { ...restored, replaces: ['cr-uid'] }, 'replaced'],
    ['without source', undefined, 'unowned'],
  ])('an object %s', (_, source, ownership) => {
    expect(ownershipOf(source ? { source } : {}, us)).toBe(ownership);
  });

  it('a former management cluster of the settings is the present one', () => {
    const source = { ...restored, cluster: 'there' };
    expect(ownershipOf({ source }, { ...us, formerClusters: ['there'] })).toBe('own');
  });
});

it.each<[string, Partial<Source>, boolean]>([
  ['our uid', { uid: owner.uid, cluster: undefined }, false],
  ['an earlier uid without a cluster', { cluster: undefined }, true],
  ['an earlier uid of this cluster', {}, false],
])('an object with %s has an unverified owner: %s', (_, change, isUnverified) => {
  const source = { ...restored, ...change };
  const leaving = { deletionTimestamp: '2026-01-02T00:00:00Z' };
  const held = [existingNode(1, [entry(1, 0)], { source, ...leaving })];
  const plans = [planOf(source), planOf(source, { held })];
  const flags = plans.map(({ nodes }) => nodes[0]?.isUnverified ?? false);
  expect(flags).toEqual([isUnverified, isUnverified]);
});

function planOf(source: Source, { input: more, ...sample }: Sample = {}) {
  const held = [existingNode(1, [entry(1, 0), entry(2, 1)], { source })];
  const ports = [port(1, 's1'), port(2, 's1')];
  return calculate(
    input({ ports, held, ...sample, input: { owner: us, storesIdentity: true, ...more } }),
  );
}

const actionsOf = (...plan: Parameters<typeof planOf>) =>
  planOf(...plan).nodes.map(({ action, why, cloud }) =>
    [action, why, ...(cloud === undefined ? [] : [cloud])].join(', '),
  );
const noted = 'post, source without its cluster or cloud';
const { cluster: _cluster, cloud: _cloud, ...early } = ours;
const moved = { ...ours, cloud: 'old-keystone:443/project' };

it.each([
  ['a further id of the business cluster', 'biz-0', 'post'],
  ['the present id', 'biz-1', 'none'],
  ['no id', undefined, 'none'],
])('an unchanged object with %s in its spec', (_, providerId, action) => {
  const node = existingNode(1, [entry(1, 0)], { source: ours });
  const held = [{ ...node, spec: { ...node.spec, ...(providerId ? { providerId } : {}) } }];
  const plan = calculate(input({ ports: [port(1, 's1')], held, input: { owner: us } }));
  expect(plan.nodes.map((one) => one.action)).toEqual([action]);
});

describe('cluster and cloud in the source', () => {
  it.each<[string, Source, Sample, string]>([
    ['present', ours, {}, 'none, unchanged'],
    ['missing', early, {}, noted],
    [
      'missing, with a Viola that drops them',
      early,
      { input: { storesIdentity: false } },
      'none, unchanged',
    ],
    ['of another cloud whose ports are all read', moved, {}, noted],
    [
      'of another cloud without one of its ports',
      moved,
      { ports: [port(1, 's1')] },
      'none, unchanged, old-keystone:443/project',
    ],
    [
      'of another cloud without the server',
      moved,
      { servers: [] },
      'none, unchanged, old-keystone:443/project',
    ],
  ])('%s: %s', (_, source, sample, action) => {
    expect(actionsOf(source, sample)).toEqual([action]);
  });

  it.each([
    ['a port that is gone', { ports: [port(1, 's1')], evidence: [evidence(2, 'portGone')] }],
    ['a deselected server', { selection: { serverIds: [] } }],
    ['a deselected subnet', { selection: { subnetIds: ['sub-b'] } }],
  ] satisfies [string, Sample][])(
    'NICs of another cloud stay without consent after %s',
    (_, sample) => {
      const plan = planOf(moved, sample);
      expect(plan.nodes.flatMap(({ removals }) => removals.confirmed)).toEqual([]);
      expect(planOf(ours, sample).nodes.flatMap(({ removals }) => removals.confirmed)).not.toEqual(
        [],
      );
    },
  );
});
