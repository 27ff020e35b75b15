import { type JobRequest, type JobResult, jobRequest } from '../../src/api/job.ts';
import type { KubeClient } from '../../src/kube/client/client.ts';
import { configMaps, type Pod, pods } from '../../src/kube/core-resources.ts';
import { isNotFound } from '../../src/kube/errors.ts';
import type { Clock } from '../../src/time/clock.ts';
import { nicResult } from './controller-samples.ts';

/** What an agent leaves behind: a result, any other termination message, or undefined while it is at work. */
export type Answer = Partial<JobResult> | string | undefined;

type PodStatus = NonNullable<Pod['status']>;

/** Kubelets whose agents do what a test tells them; a Pod answers once. */
export class ScriptedAgents {
  /** Requests that agents were given, oldest first. */
  readonly requests: JobRequest[] = [];
  answer: (request: JobRequest) => Answer = configured;
  readonly #client: KubeClient;
  readonly #clock: Clock;
  readonly #started = new Map<string, JobRequest>();
  readonly #ended = new Set<string>();

  constructor(client: KubeClient, clock: Clock) {
    this.#client = client;
    this.#clock = clock;
  }

  /** Lets every agent that has a Pod do its work. */
  async work(list: readonly Pod[]): Promise<void> {
    for (const pod of list) {
      const { uid = '', deletionTimestamp } = pod.metadata;
      if (deletionTimestamp) await this.#end(pod);
      if (deletionTimestamp || this.#ended.has(uid)) continue;
      const request = this.#started.get(uid) ?? (await this.#begin(pod));
      const answer = this.answer(request);
      if (answer === undefined) continue;
      this.#ended.add(uid);
      await this.setStatus(pod, this.#statusOf(request, answer));
    }
  }

  async setStatus({ metadata }: Pod, status: PodStatus): Promise<void> {
    const { namespace = '', name } = metadata;
    await this.#client.patchStatus(pods, { namespace, name }, { status });
  }

  /** As a kubelet does with a Pod that was deleted: its containers stop, then it is gone. */
  async #end({ metadata }: Pod): Promise<void> {
    const { namespace = '', name } = metadata;
    try {
      await this.#client.patchStatus(pods, { namespace, name }, { status: { phase: 'Failed' } });
      await this.#client.delete(pods, { namespace, name }, { gracePeriodSeconds: 0 });
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }

  /** As a kubelet: without the ConfigMap the Pod could not start. */
  async #begin({ metadata, spec }: Pod): Promise<JobRequest> {
    const { namespace = '', uid = '' } = metadata;
    const name = spec?.volumes?.find(({ configMap }) => configMap)?.configMap?.name ?? '';
    const { data } = await this.#client.get(configMaps, { namespace, name });
    const request = jobRequest.parse(JSON.parse(data?.['request.json'] ?? ''));
    this.#started.set(uid, request);
    this.requests.push(request);
    return request;
  }

  #statusOf({ uid, generation, attempt }: JobRequest, answer: string | object): PodStatus {
    const empty = { protocol: 1, bootId: 'boot', outcome: 'ok', nics: [], warnings: [] };
    const result = { ...empty, uid, generation, attempt };
    const message = typeof answer === 'string' ? answer : JSON.stringify({ ...result, ...answer });
    const finishedAt = this.#clock.now().toISOString();
    const container = { name: 'agent', image: 'agent', imageID: '', ready: false, restartCount: 0 };
    const state = { terminated: { exitCode: 0, message, finishedAt } };
    return { phase: 'Succeeded', containerStatuses: [{ ...container, state }] };
  }
}

/** A good agent: it configures what it is asked for. */
export function configured({ interfaces }: JobRequest): Answer {
  return { outcome: 'ok', nics: interfaces.map(({ index, mac }) => nicResult(index, { mac })) };
}
