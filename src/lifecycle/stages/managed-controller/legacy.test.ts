import { describe, expect, it } from 'vitest';
import { annotations } from '../../../api/names.ts';
import type { Pod } from '../../../kube/core-resources.ts';
import { type ControllerInput, namespace, planOf } from './testing/scene.ts';

const legacy = (replicas: number) => ({
  kind: 'Deployment',
  metadata: { name: 'multinic-controller-manager', namespace },
  spec: { replicas },
});

describe('a legacy controller in the namespace', () => {
  const takeOver = { [annotations.takeOver]: 'true' };
  const legacyPods: Pod[] = [{ metadata: { name: 'old-1', namespace } }];

  it.each<[string, ControllerInput, { stops: boolean; installs: boolean; says?: string }]>([
    ['that runs', { live: [legacy(1)] }, { stops: false, installs: false, says: 'take-over=true' }],
    [
      'that is taken over',
      { live: [legacy(1)], annotations: takeOver },
      { stops: true, installs: false, says: 'is being scaled to 0' },
    ],
    [
      'whose last Pod is still terminating',
      { live: [legacy(0)], annotations: takeOver, legacyPods },
      { stops: false, installs: false, says: '(1 left)' },
    ],
    [
      'that has ended',
      { live: [legacy(0)], annotations: takeOver },
      { stops: false, installs: true },
    ],
  ])('a legacy controller %s', (_, scene, { stops, installs, says }) => {
    const plan = planOf(scene);
    expect(plan.stop ?? []).toHaveLength(stops ? 1 : 0);
    expect(plan.apply.length > 0).toBe(installs);
    expect(plan.notices.map(({ condition }) => condition)).toEqual(
      installs ? [] : ['OtherControllerActive'],
    );
    expect(plan.notices[0]?.message ?? '').toContain(says ?? '');
    expect(plan.requeueAfterMs === undefined).toBe(installs);
  });
});
