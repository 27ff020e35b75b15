import { type JobRequest, type JobResult, jobRequest } from '../../src/api/job.ts';
import type { KubeClient } from '../../src/kube/client/client.ts';
import { configMaps, type Pod, pods } from '../../src/kube/core-resources.ts';
import { isNotFound } from '../../src/kube/errors.ts';
import type { Clock } from '../../src/time/clock.ts';
import { agentIn, nicResult } from './controller-samples.ts';

type PodStatus = NonNullable<Pod['status']>;

/** A container that has not begun, in the kubelet's words (`ImagePullBackOff`, `ContainerCreating` …). */
export interface NotBegun {
  readonly waiting: string;
}

/** A Pod that the kubelet takes no part in: refused (`OutOfcpu`), evicted. */
export interface Refused {
  readonly refused: string;
}

/** What an agent leaves behind: a result, any other termination message, or undefined while it is at work. */
export type Answer = Partial<JobResult> | NotBegun | Refused | string | undefined;

/**
 * Kubelets whose agents do what a test tells them; a Pod answers once. They fail as real ones do: one that is dead says
 * nothing any more and its Pods never end, each has a clock of its own, and a Pod without its ConfigMap does not start.
 */
export class ScriptedAgents {
  /** Requests that agents were given, oldest first. */
  readonly requests: JobRequest[] = [];
  answer: (request: JobRequest) => Answer = configured;
  /** Nodes whose kubelets do nothing, not even end Pods that were deleted. */
  readonly dead = new Set<string>();
  /** How far the clocks of nodes are off. */
  clockSkewMs = 0;
  readonly #client: KubeClient;
  readonly #clock: Clock;
  readonly #started = new Map<string, JobRequest>();
  readonly #shown = new Map<string, string>();
  readonly #ended = new Set<string>();

  constructor(client: KubeClient, clock: Clock) {
    this.#client = client;
    this.#clock = clock;
  }

  /** Lets every agent that has a Pod do its work. */
  async work(list: readonly Pod[]): Promise<void> {
    for (const pod of list) {
      if (this.dead.has(pod.spec?.nodeName ?? '')) continue;
      const { uid = '', deletionTimestamp } = pod.metadata;
      if (deletionTimestamp) await this.#end(pod);
      if (deletionTimestamp || this.#ended.has(uid)) continue;
      await this.#proceed(pod, uid);
    }
  }

  async #proceed(pod: Pod, uid: string): Promise<void> {
    const request = this.#started.get(uid) ?? (await this.#read(pod));
    if (!request) return;
    const answer = this.answer(request);
    if (isNotBegun(answer))
      return this.#show(pod, agentIn({ waiting: { reason: answer.waiting } }, 'Pending'));
    if (isRefused(answer)) {
      this.#ended.add(uid);
      return this.setStatus(pod, {
        phase: 'Failed',
        reason: answer.refused,
        message: 'node is full',
      });
    }
    if (!this.#started.has(uid)) {
      this.#started.set(uid, request);
      this.requests.push(request);
    }
    if (answer === undefined) return this.#show(pod, agentIn({ running: {} }));
    this.#ended.add(uid);
    await this.setStatus(pod, this.#statusOf(request, answer));
  }

  /** A status that lasts is written once. */
  async #show(pod: Pod, status: PodStatus): Promise<void> {
    const { uid = '' } = pod.metadata;
    const text = JSON.stringify(status);
    if (this.#shown.get(uid) === text) return;
    this.#shown.set(uid, text);
    await this.setStatus(pod, status);
  }

  async setStatus({ metadata }: Pod, status: PodStatus): Promise<void> {
    const { namespace = '', name } = metadata;
    try {
      await this.#client.patchStatus(pods, { namespace, name }, { status });
    } catch (error) {
      // Deleted while the kubelet worked.
      if (!isNotFound(error)) throw error;
    }
  }

  /** As a kubelet does with a Pod that was deleted: its containers stop, then it is gone. */
  async #end(pod: Pod): Promise<void> {
    const { namespace = '', name } = pod.metadata;
    await this.setStatus(pod, { phase: 'Failed' });
    try {
      await this.#client.delete(pods, { namespace, name }, { gracePeriodSeconds: 0 });
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }

  /** As a kubelet: without its ConfigMap a Pod does not start (FailedMount), and it is looked for again and again. */
  async #read({ metadata, spec }: Pod): Promise<JobRequest | undefined> {
    const { namespace = '' } = metadata;
    const name = spec?.volumes?.find(({ configMap }) => configMap)?.configMap?.name ?? '';
    const found = await this.#client.find(configMaps, { namespace, name });
    return found && jobRequest.parse(JSON.parse(found.data?.['request.json'] ?? ''));
  }

  #statusOf(
    { uid, generation, attempt, protocol }: JobRequest,
    answer: string | object,
  ): PodStatus {
    const empty = { protocol, bootId: 'boot', outcome: 'ok', nics: [], warnings: [] };
    const result = { ...empty, uid, generation, attempt };
    const message = typeof answer === 'string' ? answer : JSON.stringify({ ...result, ...answer });
    const finishedAt = new Date(this.#clock.now().getTime() + this.clockSkewMs).toISOString();
    const container = { name: 'agent', image: 'agent', imageID: '', ready: false, restartCount: 0 };
    const state = { terminated: { exitCode: 0, message, finishedAt } };
    return { phase: 'Succeeded', containerStatuses: [{ ...container, state }] };
  }
}

function isNotBegun(answer: Answer): answer is NotBegun {
  return typeof answer === 'object' && 'waiting' in answer;
}

function isRefused(answer: Answer): answer is Refused {
  return typeof answer === 'object' && 'refused' in answer;
}

/** A good agent: it configures what it is asked for. */
export function configured({ interfaces }: JobRequest): Answer {
  return { outcome: 'ok', nics: interfaces.map(({ index, mac }) => nicResult(index, { mac })) };
}
