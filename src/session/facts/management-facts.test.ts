import { expect, it } from 'vitest';
import {
  type CliFixture,
  home,
  operatorDeployment,
  type SceneOptions,
  startScene,
} from '../../../test/fixtures/cli/scene.ts';
import { labels, operatorLease } from '../../api/names.ts';
import type { PodNotStarted } from '../../explain/facts.ts';
import { deployments, events, leases, pods } from '../../kube/core-resources.ts';
import { Session } from '../access/session.ts';
import { readParts } from './management-facts.ts';

const image = 'registry.example/multinic:0.2.0';
const pod = `${operatorDeployment}-7f9c-x2k4p`;

/** Replaces the operator's ready Pod by a Pod with this status and these Events. */
function withPod(status: object, ...messages: readonly string[]) {
  return async ({ client }: CliFixture): Promise<void> => {
    const own = { namespace: home, name: operatorDeployment };
    await client.patchStatus(deployments, own, { status: { readyReplicas: 0 } });
    const metadata = {
      namespace: home,
      name: pod,
      labels: { [labels.component]: 'operator', 'app.kubernetes.io/version': '0.2.0' },
    };
    await client.create(pods, { metadata, spec: { containers: [{ name: 'main', image }] } });
    await client.patchStatus(pods, { namespace: home, name: pod }, { status });
    for (const [at, message] of messages.entries()) await createEvent({ client }, at, message);
  };
}

async function createEvent({ client }: Pick<CliFixture, 'client'>, at: number, message: string) {
  await client.create(events, {
    metadata: { namespace: home, name: `event-${at}` },
    involvedObject: { kind: 'Pod', namespace: home, name: pod },
    type: 'Warning',
    message,
    lastTimestamp: `2026-01-01T00:0${at}:00Z`,
  });
}

function waiting(reason: string) {
  return {
    phase: 'Pending',
    containerStatuses: [
      {
        name: 'main',
        image,
        imageID: '',
        ready: false,
        restartCount: 0,
        state: { waiting: { reason, message: 'of the container' } },
      },
    ],
  };
}

const scaled = ({ client }: CliFixture) => {
  const own = { namespace: home, name: operatorDeployment };
  return Promise.all([
    client.patch(deployments, own, { spec: { replicas: 0 } }),
    client.patchStatus(deployments, own, { status: { readyReplicas: 0, replicas: 0 } }),
  ]);
};

const noLease: SceneOptions = { withoutLease: true };
const unscheduled = [
  { type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: 'no volume' },
];

const other = 'multinic-system';

/** Scales the first operator to 0 and starts a second one in the other usual namespace. */
async function replaced(scene: CliFixture): Promise<void> {
  await scaled(scene);
  await scene.client.patch(leases, ofLease, { spec: { renewTime: '2020-01-01T00:00:00.000000Z' } });
  await second(scene);
}

const ofLease = { namespace: home, name: operatorLease };

/** Installs a second operator in the other usual namespace. */
async function second({ client }: CliFixture): Promise<void> {
  const { spec } = await client.get(deployments, { namespace: home, name: operatorDeployment });
  const own = { namespace: other, name: 'second' };
  const ofOperator = { [labels.component]: 'operator' };
  await client.create(deployments, {
    metadata: { ...own, labels: ofOperator },
    spec: { ...spec, replicas: 1 },
  });
  await client.patchStatus(deployments, own, { status: { replicas: 1, readyReplicas: 1 } });
  const renewTime = new Date().toISOString().replace('Z', '000Z');
  const lease = { holderIdentity: 'second-0_1', leaseDurationSeconds: 15, renewTime };
  await client.create(leases, { metadata: { ...ofLease, namespace: other }, spec: lease });
}

/** Returns the texts that a screen shows about Pods that do not start. */
function namesIn(expected: object): readonly string[] {
  const { notStarted = [] } = expected as { readonly notStarted?: readonly PodNotStarted[] };
  return notStarted.flatMap(({ reason, message = '', image: of = '' }) => [
    pod,
    reason,
    message,
    of,
  ]);
}

/** Starts a rollout: a ready Pod with the former image, and this new Pod. */
function rollout(status: object, conditions: readonly object[], ...messages: readonly string[]) {
  return async (scene: CliFixture): Promise<void> => {
    await withPod(status, ...messages)(scene);
    const own = { namespace: home, name: operatorDeployment };
    const counts = { replicas: 2, readyReplicas: 1, updatedReplicas: 1, observedGeneration: 1 };
    await scene.client.patchStatus(deployments, own, { status: { ...counts, conditions } });
  };
}

const available = { type: 'Available', status: 'True' };
const late = { type: 'Progressing', status: 'False', message: 'ReplicaSet timed out' };
const pulling = waiting('ImagePullBackOff');
const running = { phase: 'Running' };

it.each([
  [
    'cannot finish its rollout',
    {},
    rollout(pulling, [available, late], 'Failed to pull image: 404'),
    {
      problem: 'ReplicaSet timed out',
      notStarted: [
        { pod, reason: 'ImagePullBackOff', image, message: 'Failed to pull image: 404' },
      ],
    },
  ],
  [
    'is in a rollout with a Pod that does not start',
    {},
    rollout(pulling, [available]),
    { isUpdating: true, problem: undefined, notStarted: [{ pod, reason: 'ImagePullBackOff' }] },
  ],
  [
    'is in a rollout',
    {},
    rollout(running, [available]),
    { isUpdating: true, problem: undefined, readyReplicas: 1 },
  ],
  [
    'cannot pull its image',
    noLease,
    withPod(waiting('ImagePullBackOff'), 'Pulling image', 'Failed to pull image: 404'),
    {
      notStarted: [
        { pod, reason: 'ImagePullBackOff', image, message: 'Failed to pull image: 404' },
      ],
    },
  ],
  [
    'waits for a volume',
    noLease,
    withPod(waiting('ContainerCreating'), 'Unable to attach or mount volumes'),
    {
      notStarted: [
        { pod, reason: 'ContainerCreating', image, message: 'Unable to attach or mount volumes' },
      ],
    },
  ],
  [
    'cannot be scheduled',
    noLease,
    withPod({ phase: 'Pending', conditions: unscheduled }),
    { notStarted: [{ pod, reason: 'Unschedulable', message: 'no volume' }] },
  ],
  [
    'crashes',
    noLease,
    withPod({ ...waiting('CrashLoopBackOff'), phase: 'Running' }),
    { notStarted: [{ pod, reason: 'CrashLoopBackOff', image, message: 'of the container' }] },
  ],
  ['has 0 replicas', noLease, scaled, { replicas: 0, problem: 'scaled to 0 replicas' }],
  [
    'has no leader',
    noLease,
    undefined,
    { readyReplicas: 1, leader: undefined, problem: undefined },
  ],
  [
    'is a process outside the cluster',
    { withoutDeployments: true, leader: 'laptop_1' },
    undefined,
    { installed: 'Process', leader: 'laptop', readyReplicas: 1 },
  ],
  [
    'replaced a dead one in another namespace',
    {},
    replaced,
    { namespace: other, leader: 'second-0', homes: [other, home] },
  ],
  [
    'runs next to another one',
    {},
    second,
    { namespace: home, readyReplicas: 1, homes: [home, other] },
  ],
  [
    'is not installed',
    { ...noLease, withoutDeployments: true },
    undefined,
    { installed: 'None', replicas: 0, leader: undefined },
  ],
] as const)('readParts describes an operator that %s', async (_, options, change, expected) => {
  const scene = await startScene(options);
  await change?.(scene);
  const { signal } = new AbortController();
  await using session = new Session({ businessContext: new Map() }, signal);
  const parts = await readParts(session);
  if (parts.state === 'unread') throw new Error(parts.why.en);
  expect(parts.value.health.find(({ part }) => part === 'operator')).toMatchObject(expected);
  const { status, out } = await scene.run('status');
  // The port-forward of the fake kubectl reaches the process, too.
  const isProcess = 'installed' in expected && expected.installed === 'Process';
  expect(status === 0).toBe(isProcess || 'isUpdating' in expected);
  for (const text of namesIn(expected)) expect(out).toContain(text);
  expect(out.includes('SeveralOperators')).toBe('homes' in expected);
  if ('homes' in expected) expect(out).toMatch(/^operator +FAIL/m);
});
