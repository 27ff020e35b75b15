import { describe, expect, test } from 'vitest';
import type { KubeClient } from '../../../src/kube/client/client.ts';
import { configMaps, type Job, jobs, type Pod, pods } from '../../../src/kube/core-resources.ts';
import type { ObjectRef } from '../../../src/kube/object.ts';
import { eventually } from './eventually.ts';
import type { KubeFixture } from './world.ts';

/** Pods of a Job need a ServiceAccount; this namespace has the account from the start. */
const namespace = 'default';

export function jobsContract(world: () => KubeFixture): void {
  async function created(spec: Partial<NonNullable<Job['spec']>> = {}) {
    const { client, name } = world();
    const job = await client.create(jobs, {
      metadata: { namespace, name: name('job') },
      spec: {
        backoffLimit: 0,
        template: {
          metadata: { labels: { app: 'contract' }, annotations: { 'example.com/note': 'kept' } },
          spec: {
            restartPolicy: 'Never',
            automountServiceAccountToken: false,
            containers: [{ name: 'main', image: 'example.com/none' }],
          },
        },
        ...spec,
      },
    });
    return { client, job };
  }

  describe('jobs', () => {
    test('J01 a Job creates and owns a Pod from the template', async () => {
      const { client, job } = await created();
      const pod = await podOf(client, job);
      expect(pod.metadata.labels).toMatchObject({
        app: 'contract',
        'job-name': job.metadata.name,
        'controller-uid': job.metadata.uid,
        'batch.kubernetes.io/job-name': job.metadata.name,
        'batch.kubernetes.io/controller-uid': job.metadata.uid,
      });
      expect(pod.metadata.annotations).toMatchObject({ 'example.com/note': 'kept' });
      const { name, uid } = job.metadata;
      expect(pod.metadata.ownerReferences).toMatchObject([
        { apiVersion: 'batch/v1', kind: 'Job', name, uid, controller: true },
      ]);
      expect(pod.spec?.containers).toMatchObject([{ name: 'main', image: 'example.com/none' }]);
      expect(pod.status?.phase).toBe('Pending');
    });

    test('J02 a succeeded Pod makes the Job Complete, and the termination message stays readable', async () => {
      const { client, job } = await created();
      const pod = await podOf(client, job);
      await end(client, pod, 'Succeeded', 0);
      const done = await conditionOf(client, job.metadata, 'Complete');
      expect(done.status).toMatchObject({ succeeded: 1 });
      expect(done.status?.completionTime).toBeDefined();
      const read = await client.get(pods, pod.metadata);
      expect(read.status?.containerStatuses?.[0]?.state?.terminated?.message).toBe('said');
    });

    test('J03 a Pod that failed makes a Job without retries Failed', async () => {
      const { client, job } = await created();
      await end(client, await podOf(client, job), 'Failed', 1);
      const done = await conditionOf(client, job.metadata, 'Failed');
      expect(done.status).toMatchObject({ failed: 1 });
      const failed = done.status?.conditions?.find(({ type }) => type === 'Failed');
      expect(failed?.reason).toBe('BackoffLimitExceeded');
    });

    test('J04 a suspended Job makes no Pod until it is resumed', async () => {
      const { client, job } = await created({ suspend: true });
      await conditionOf(client, job.metadata, 'Suspended');
      expect(await podsOf(client, job)).toEqual([]);
      await client.patch(jobs, job.metadata, { spec: { suspend: false } });
      await podOf(client, job);
    });

    test('J05 background deletion of a Job deletes Pods and dependents', async () => {
      const { client, job } = await created();
      const pod = await podOf(client, job);
      const { name, uid = '' } = job.metadata;
      const ownerReferences = [{ apiVersion: 'batch/v1', kind: 'Job', name, uid }];
      const owned = await client.create(configMaps, {
        metadata: { namespace, name, ownerReferences },
      });
      await client.delete(jobs, job.metadata, { uid, propagationPolicy: 'Background' });
      await eventually('the Pod to go', async () => !(await client.find(pods, pod.metadata)));
      await eventually(
        'its ConfigMap to go',
        async () => !(await client.find(configMaps, owned.metadata)),
      );
      expect(await client.find(jobs, job.metadata)).toBeUndefined();
    });
  });
}

async function podsOf(client: KubeClient, job: Job): Promise<readonly Pod[]> {
  const labelSelector = `batch.kubernetes.io/controller-uid=${job.metadata.uid}`;
  return (await client.list(pods, { namespace, labelSelector })).items;
}

function podOf(client: KubeClient, job: Job): Promise<Pod> {
  return eventually('the Pod of the Job', async () => (await podsOf(client, job))[0]);
}

/** Kubelet status after the only container ended. */
async function end(
  client: KubeClient,
  { metadata }: Pod,
  phase: string,
  exitCode: number,
): Promise<void> {
  const terminated = { exitCode, reason: 'Completed', message: 'said' };
  const image = 'example.com/none';
  const ended = {
    name: 'main',
    image,
    imageID: '',
    ready: false,
    restartCount: 0,
    state: { terminated },
  };
  await client.patchStatus(pods, metadata, { status: { phase, containerStatuses: [ended] } });
}

function conditionOf(client: KubeClient, ref: ObjectRef, wanted: string): Promise<Job> {
  return eventually(`the Job to be ${wanted}`, async () => {
    const job = await client.get(jobs, ref);
    const met = job.status?.conditions?.some(
      ({ type, status }) => type === wanted && status === 'True',
    );
    return met ? job : undefined;
  });
}
