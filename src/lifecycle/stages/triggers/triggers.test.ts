import { describe, expect, it } from 'vitest';
import { fieldManagers, labels } from '../../../api/names.ts';
import { type ConfigMap, configMaps } from '../../../kube/core-resources.ts';
import type { KubeObject } from '../../../kube/object.ts';
import type { Resource } from '../../../kube/resource.ts';
import { readPolicy } from '../../../triggers/policy.ts';
import { observedOf, operatorWith } from '../../testing/observed.ts';
import { triggers } from './triggers.ts';

const name = 'multinic-operator-triggers';
const scheduled = { reconcileTrigger: { mode: 'scheduled', interval: '15m' } };

function planFor(spec: unknown, live?: Partial<ConfigMap['metadata']>) {
  const object = { metadata: { namespace: 'multinic-system', name, ...live } };
  const resource = configMaps as unknown as Resource<KubeObject>;
  return triggers(observedOf(operatorWith(spec), live ? [[resource, object]] : []));
}

const ours = { labels: { [labels.managedByOperator]: 'production-system' } };
const withoutLabels = { managedFields: [{ manager: fieldManagers.lifecycle, operation: 'Apply' }] };
const users = { managedFields: [{ manager: 'kubectl-client-side-apply', operation: 'Update' }] };

describe('ConfigMap multinic-operator-triggers', () => {
  it('the ConfigMap contains the given fields in a form the operator reads', () => {
    const { apply, remove, problems } = planFor(scheduled);
    expect({ remove, problems }).toEqual({ remove: [], problems: [] });
    expect(apply.map(({ object }) => object)).toEqual([
      {
        metadata: {
          name,
          namespace: 'multinic-system',
          labels: {
            'app.kubernetes.io/name': 'multinic-operator',
            [labels.protected]: 'true',
            [labels.managedByOperator]: 'production-system',
          },
          ownerReferences: [expect.objectContaining({ uid: 'uid-1' })],
        },
        data: { 'trigger.yaml': 'mode: scheduled\ninterval: 15m\n' },
      },
    ]);
    expect(readPolicy('mode: scheduled\ninterval: 15m\n').mode).toBe('scheduled');
  });

  it.each([
    ['its label', ours],
    ['its field manager', withoutLabels],
  ])(
    'a ConfigMap owned by %s is applied again, and deleted without reconcileTrigger',
    (_what, live) => {
      expect(planFor(scheduled, live).apply).toHaveLength(1);
      const { remove, apply } = planFor({}, live);
      expect(apply).toEqual([]);
      expect(remove.map(({ ref }) => ref)).toEqual([{ namespace: 'multinic-system', name }]);
    },
  );

  it("a user's ConfigMap stays unchanged, and the problem explains the hand-over", () => {
    const { apply, remove, problems } = planFor(scheduled, users);
    expect({ apply, remove }).toEqual({ apply: [], remove: [] });
    expect(problems.map(({ field }) => field)).toEqual(['spec.reconcileTrigger']);
    expect(problems[0]?.message).toContain(`${labels.managedByOperator}=production-system`);
    expect(planFor({}, users)).toMatchObject({ apply: [], remove: [], problems: [] });
  });

  it('the ConfigMap stays unchanged when the operator would refuse the text', () => {
    const { apply, remove, problems } = planFor({ reconcileTrigger: { interval: '5s' } }, ours);
    expect({ apply, remove }).toEqual({ apply: [], remove: [] });
    expect(problems.map(({ field }) => field)).toEqual(['spec.reconcileTrigger.interval']);
  });

  it('no ConfigMap is planned without reconcileTrigger', () => {
    expect(planFor({})).toMatchObject({ apply: [], remove: [], problems: [] });
  });
});
