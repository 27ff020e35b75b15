import { expect, it, vi } from 'vitest';
import { agentIn, agentTask, job, pod } from '../../../test/fixtures/controller-samples.ts';
import { createJobStore, createPodStore } from './job-runner.ts';
import { createOpenRuns } from './open-runs.ts';

it('open runs parse a Job again only after the Job or its Pod changed', () => {
  const [jobs, pods] = [createJobStore(), createPodStore()];
  const first = job(agentTask({ node: 'a' }), { metadata: { resourceVersion: '1' } });
  jobs.upsert(first);
  jobs.upsert(job(agentTask({ node: 'b' }), { metadata: { resourceVersion: '1' } }));
  const open = createOpenRuns(jobs, pods);
  const parsed = vi.spyOn(jobs, 'get');
  const phases = () => open().map(({ node, phase }) => `${node} ${phase}`);
  expect(phases()).toEqual(['a pending', 'b pending']);
  expect(parsed).toHaveBeenCalledTimes(2);
  expect(phases()).toEqual(['a pending', 'b pending']);
  expect(parsed).toHaveBeenCalledTimes(2);

  const { uid = '', name } = first.metadata;
  const owner = { apiVersion: 'batch/v1', kind: 'Job', name, uid };
  pods.upsert(pod(agentIn({ running: {} }), { resourceVersion: '2', ownerReferences: [owner] }));
  expect(phases()).toEqual(['a running', 'b pending']);
  expect(parsed).toHaveBeenCalledTimes(3);

  const status = { conditions: [{ type: 'Complete', status: 'True' }] };
  jobs.upsert(job(agentTask({ node: 'b' }), { metadata: { resourceVersion: '3' }, status }));
  expect(phases()).toEqual(['a running']);
  expect(parsed).toHaveBeenCalledTimes(3);
});
