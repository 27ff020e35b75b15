import { expect, it } from 'vitest';
import { request } from '../../../test/fixtures/agent-samples.ts';
import {
  agentIn,
  agentTask,
  job,
  pod,
  podStatusWith,
  template,
} from '../../../test/fixtures/controller-samples.ts';
import type { Effect } from '../../api/effects.ts';
import { type JobRequest, jobRequest } from '../../api/job.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import type { ConfigMap, Job, Pod } from '../../kube/core-resources.ts';
import { KubeError } from '../../kube/errors.ts';
import type { Perform } from '../../process/effects.ts';
import { jobOf, taskOfJob } from './job.ts';
import { createJobRunner, createJobStore, createPodStore, slimJob } from './job-runner.ts';
import { rightsOf } from './pod-rights.ts';

it('open() does not read finished Jobs', () => {
  const [jobs, pods] = [createJobStore(), createPodStore()];
  let reads = 0;
  const ended: Job = job(agentTask({ attempt: 1 }), {
    status: { conditions: [{ type: 'Complete', status: 'True' }] },
  });
  jobs.upsert({
    ...ended,
    get spec() {
      reads += 1;
      return ended.spec;
    },
  } as Job);
  jobs.upsert(job(agentTask({ attempt: 2 })));
  const runner = createJobRunner({
    client: {} as KubeClient,
    jobs,
    pods,
    template,
    perform: (_, write) => write(),
  });
  reads = 0;
  expect(runner.open().map(({ attempt }) => attempt)).toEqual([2]);
  expect(reads).toBe(0);
});

const notFound = (reason: string) => new KubeError({ status: 404, reason, message: 'no' });
const perform: Perform<Effect> = (_, write) => write();

it('remove() treats a Job as gone only for reason NotFound from the API server', async () => {
  const jobs = createJobStore();
  const existing = job(agentTask({ attempt: 1 }));
  jobs.upsert(existing);
  const remove = async (error: KubeError) => {
    const client = { delete: () => Promise.reject(error) } as unknown as KubeClient;
    const runner = createJobRunner({ client, jobs, pods: createPodStore(), template, perform });
    const [run] = runner.open();
    if (run) await runner.remove(run, new AbortController().signal);
  };
  await expect(remove(notFound('Http404'))).rejects.toThrow('no');
  await expect(remove(notFound('NotFound'))).resolves.toBeUndefined();
});

it('slimJob keeps the task and suspension, and drops the Pod template', () => {
  const whole = job(agentTask({ attempt: 1 }));
  const kept = slimJob(whole);
  expect(taskOfJob(kept)).toEqual(taskOfJob(whole));
  expect(kept.spec).toMatchObject({ suspend: whole.spec?.suspend ?? true });
  expect(JSON.stringify(kept).length).toBeLessThan(JSON.stringify(whole).length / 2);
});

it("start() sends the full Job's host rights even when the store has a slim Job", async () => {
  const jobs = createJobStore();
  jobs.upsert(slimJob(job(agentTask(), { spec: { suspend: true } })));
  const requests: JobRequest[] = [];
  const client = {
    create: async (_: unknown, { data }: ConfigMap) =>
      requests.push(jobRequest.parse(JSON.parse(data?.['request.json'] ?? ''))),
    patch: async () => job(agentTask()),
  } as unknown as KubeClient;
  const granted = { ...template, systemBus: true };
  const sent = agentTask({ family: 'keyfile' });
  const runner = createJobRunner({
    client,
    jobs,
    pods: createPodStore(),
    template: granted,
    perform,
  });
  await runner.start(sent, request([]), new AbortController().signal);
  expect(requests.map(({ rights }) => rights)).toEqual([rightsOf(jobOf(sent, granted))]);
  expect(requests[0]?.rights).toMatchObject({
    user: 0,
    capabilities: ['NET_ADMIN'],
    hostNetwork: true,
  });
  expect(requests[0]?.rights?.mounts).toEqual(
    expect.arrayContaining([
      { path: '/etc/NetworkManager/system-connections', writable: true },
      { path: '/usr/lib', writable: false },
      { path: '/run/dbus', writable: false },
    ]),
  );
});

it.each<[string, Pod['status'], readonly number[]]>([
  ['the agent is at work', agentIn({ running: {} }), [1]],
  ['the agent has ended and a sidecar has not', agentAndSidecar(), []],
  ['the kubelet has evicted the Pod', { phase: 'Failed', reason: 'Evicted' }, []],
])('open() lists an unfinished Job until its agent or Pod has ended: %s', (_, status, attempts) => {
  const [jobs, pods] = [createJobStore(), createPodStore()];
  const existing = job(agentTask({ attempt: 1 }));
  jobs.upsert(existing);
  const { name, uid = '' } = existing.metadata;
  const ownerReferences = [{ apiVersion: 'batch/v1', kind: 'Job', name, uid }];
  pods.upsert(pod(status, { ownerReferences }));
  const runner = createJobRunner({ client: {} as KubeClient, jobs, pods, template, perform });
  expect(runner.open().map(({ attempt }) => attempt)).toEqual(attempts);
});

/** A sidecar added by an admission webhook keeps running; the kubelet reports phase Running. */
function agentAndSidecar(): Pod['status'] {
  const { containerStatuses = [], ...status } = podStatusWith('{}');
  const sidecar = { ...containerStatuses[0], name: 'proxy', state: { running: {} } };
  return {
    ...status,
    phase: 'Running',
    containerStatuses: [...containerStatuses, sidecar],
  } as Pod['status'];
}
