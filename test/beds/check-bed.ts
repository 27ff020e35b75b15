import { findCondition } from '../../src/api/condition.ts';
import type { JobRequest } from '../../src/api/job.ts';
import { nodeConfigs } from '../../src/controller/stores.ts';
import { KubeError } from '../../src/kube/errors.ts';
import type { ControllerBed } from './controller-bed.ts';
import { entry, instanceId, nicResult } from './controller-samples.ts';
import { type Answer, configured } from './scripted-agents.ts';

export const good = 'True AllInterfacesConfigured';

const drift = { state: 'Failed', reason: 'Drifted', message: 'an apply would: ip addr' } as const;

/** What an agent says of a node that differs. */
export const drifted = (): Answer => ({ outcome: 'failed', nics: [nicResult(0, drift)] });

/** What tests of looks at a node do on the bed that is up: one node `worker-1` with one NIC. */
export function checksOn(bed: () => ControllerBed) {
  /** Answers a check so, and whatever else as a good agent does. */
  function answerChecks(answer: (request: JobRequest) => Answer): void {
    bed().agents.answer = (request) =>
      request.action === 'check' ? answer(request) : configured(request);
  }

  async function configure(flags: Readonly<Record<string, string>> = {}): Promise<void> {
    await bed().addNode('worker-1');
    await bed().setNode('worker-1', { systemUUID: instanceId, bootID: 'boot-1' });
    await bed().setReady('worker-1', 'True');
    bed().run(flags);
    await bed().apply('worker-1', { interfaces: [entry(0)] });
    await bed().untilReady('worker-1', good);
  }

  function boot(bootID = 'boot-2'): Promise<void> {
    return bed().setNode('worker-1', { systemUUID: instanceId, bootID });
  }

  function ask(value: string) {
    const annotations = { 'multinic.io/check': value };
    const ref = { namespace: 'multinic-system', name: 'worker-1' };
    return bed().admin.patch(nodeConfigs, ref, { metadata: { annotations } });
  }

  /** A quota of the cluster has no room for Jobs that only look, until there is. */
  function refuseChecks(): { isFull: boolean } {
    const quota = { isFull: true };
    bed().through = (client) => {
      const refuse: typeof client.create = async (resource, object, options) => {
        const { labels } = object.metadata;
        if (!quota.isFull || labels?.['multinic.io/action'] !== 'check') {
          return client.create(resource, object, options);
        }
        throw new KubeError({ status: 403, reason: 'Forbidden', message: 'exceeded quota' });
      };
      return { ...client, create: refuse };
    };
    return quota;
  }

  /** Jobs that have no Pod, because nobody may make one, are gone as soon as they are deleted. */
  function dropJobsAtOnce(): void {
    bed().through = (client) => {
      const drop: typeof client.delete = (resource, ref, options) =>
        client.delete(resource, ref, { ...options, propagationPolicy: 'Background' });
      return { ...client, delete: drop };
    };
  }

  const actions = () => bed().agents.requests.map(({ action }) => action);

  function untilActions(...wanted: string[]): Promise<void> {
    return bed().eventually(
      () => actions().join() === wanted.join(),
      () => `agents: ${actions().join()}, not ${wanted.join()}`,
    );
  }

  /** Jobs that only look. */
  const looks = () =>
    bed()
      .jobs()
      .filter(({ metadata }) => metadata.labels?.['multinic.io/action'] === 'check');

  const looking = () => actions().filter((action) => action === 'check').length;

  async function driftOf(): Promise<string> {
    const { status } = await bed().get('worker-1');
    const found = findCondition(status?.conditions, 'Drifted');
    return [found?.status, found?.reason, found?.message].join(' ');
  }

  function untilDrift(wanted: string): Promise<void> {
    return bed().eventually(
      async () => (await driftOf()).startsWith(wanted),
      () => `Drifted is not ${wanted}`,
    );
  }

  return {
    answerChecks,
    configure,
    boot,
    ask,
    refuseChecks,
    dropJobsAtOnce,
    actions,
    untilActions,
    looks,
    looking,
    driftOf,
    untilDrift,
  };
}
