import { describe, expect, it } from 'vitest';
import type { Pod } from '../../../kube/core-resources.ts';
import { type ControllerInput, deployment, namespace, planOf } from './testing/scene.ts';

const live = (status: object, spec: object = {}) => ({
  ...deployment,
  metadata: { ...deployment.metadata, generation: 2 },
  spec: { ...deployment.spec, replicas: 2, ...spec },
  status: { observedGeneration: 2, ...status },
});
const all = { replicas: 2, updatedReplicas: 2, readyReplicas: 2 };
const pod = (waiting: object, more: object = {}): Pod => ({
  metadata: { name: 'p1', namespace, labels: { app: 'multinic-controller' } },
  status: {
    containerStatuses: [
      {
        name: 'operator',
        image: 'own:1',
        imageID: '',
        ready: false,
        restartCount: 0,
        state: { waiting },
        ...more,
      },
    ],
  },
});

describe('the controller report', () => {
  const completed = [{ type: 'Progressing', status: 'True', reason: 'NewReplicaSetAvailable' }];
  const starting = live({ replicas: 2, updatedReplicas: 2 });

  it.each<[string, ControllerInput, object]>([
    ['Pending', {}, { phase: 'Pending', readyReplicas: 0, desiredReplicas: 1 }],
    ['Ready', { live: [live(all)] }, { phase: 'Ready', readyReplicas: 2, desiredReplicas: 2 }],
    ['Progressing', { live: [live({ ...all, observedGeneration: 1 })] }, { phase: 'Progressing' }],
    ['Progressing', { live: [live({ ...all, updatedReplicas: 1 })] }, { phase: 'Progressing' }],
    ['Progressing', { live: [starting] }, { phase: 'Progressing' }],
    [
      'Degraded',
      { live: [live({ ...all, readyReplicas: 1, conditions: completed })] },
      { phase: 'Degraded', readyReplicas: 1 },
    ],
    [
      'Degraded',
      {
        live: [live({ ...all, observedGeneration: 1 })],
        pods: [pod({ reason: 'ErrImagePull', message: 'rpc error 1' })],
      },
      { phase: 'Degraded' },
    ],
    [
      'Degraded',
      { live: [starting], pods: [pod({ reason: 'ErrImagePull', message: 'rpc error 1' })] },
      {
        phase: 'Degraded',
        message: 'Pod p1, container operator: ImagePullBackOff: image "own:1" cannot be pulled',
      },
    ],
    [
      'Degraded',
      {
        live: [starting],
        pods: [pod({ reason: 'CreateContainerConfigError', message: 'secret "x" not found' })],
      },
      { message: 'Pod p1, container operator: CreateContainerConfigError: secret "x" not found' },
    ],
    [
      'Degraded',
      {
        live: [starting],
        pods: [
          pod(
            { reason: 'CrashLoopBackOff', message: 'back-off 10s restarting' },
            { lastState: { terminated: { exitCode: 2, message: 'DB_PORT is wrong\nmore' } } },
          ),
        ],
      },
      { message: 'Pod p1, container operator: CrashLoopBackOff: exit code 2: DB_PORT is wrong' },
    ],
  ])('the controller report has phase %s', (_, scene, expected) => {
    expect(planOf(scene).report).toMatchObject(expected);
  });
});
