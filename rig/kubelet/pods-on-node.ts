import type { KubeClient } from '../../src/kube/client/client.ts';
import { type Pod, pods } from '../../src/kube/core-resources.ts';
import { isConflict, isInvalid, isNotFound } from '../../src/kube/errors.ts';
import { backoffMs } from '../../src/time/backoff.ts';
import type { Random } from '../../src/time/clock.ts';
import type { FailureOrders } from './failure.ts';
import { PodRun, type PodRunOptions } from './pod-run.ts';
import { ended, type PodStatus } from './pod-status.ts';

const fieldManager = 'kubelet';

export interface PodsOnNodeOptions extends Omit<PodRunOptions, 'report' | 'client'> {
  readonly client: Pick<KubeClient, 'find' | 'applyStatus' | 'delete'>;
  readonly failures: FailureOrders;
  readonly random: Random;
  readonly signal: AbortSignal;
}

interface Running {
  readonly run: PodRun;
  readonly done: Promise<void>;
}

/** The Pods of one node: runs each once, and takes deleted ones away when they have stopped. */
export class PodsOnNode {
  readonly #options: PodsOnNodeOptions;
  /** By uid, until the Pod is gone: a late event must not start an ended one again. */
  readonly #runs = new Map<string, Running>();
  readonly #leaving = new Set<string>();

  constructor(options: PodsOnNodeOptions) {
    this.#options = options;
  }

  /** Takes notice of a Pod that appeared or changed; the same one may come again. */
  take(pod: Pod): void {
    const uid = pod.metadata.uid ?? '';
    if (pod.metadata.deletionTimestamp !== undefined) {
      if (!this.#leaving.has(uid)) this.#background(pod, this.#leave(pod));
    } else if (!this.#runs.has(uid) && !hasEnded(pod)) {
      this.#admit(pod);
    }
  }

  /** Ends what is left of a Pod that is no longer in the API. */
  forget(pod: Pod): void {
    const uid = pod.metadata.uid ?? '';
    const known = this.#runs.get(uid);
    this.#runs.delete(uid);
    if (known) this.#background(pod, known.run.stop({ kind: 'deleted', graceMs: 0 }));
  }

  /** Cuts the power: containers end at once and report nothing themselves. */
  async powerLoss(): Promise<void> {
    const all = [...this.#runs];
    for (const [, { run }] of all) await run.stop({ kind: 'powerLoss' });
    await Promise.all(all.map(([, { done }]) => done));
    for (const [uid, { run }] of all) if (!run.hasEnded) this.#runs.delete(uid);
  }

  /** Stops every container. */
  async close(): Promise<void> {
    const all = [...this.#runs.values()];
    await Promise.all(all.map(({ run }) => run.stop({ kind: 'deleted', graceMs: 2000 })));
    await Promise.all(all.map(({ done }) => done));
  }

  #admit(pod: Pod): void {
    if (pod.status?.phase === 'Running') {
      this.#background(pod, this.#report(pod, this.#lostContainer(pod)));
      return;
    }
    const uid = pod.metadata.uid ?? '';
    const options = {
      ...this.#options,
      report: (of: Pod, status: PodStatus) => this.#report(of, status),
    };
    const run = new PodRun(pod, this.#options.failures.take(pod), options);
    const done = run.run();
    this.#runs.set(uid, { run, done });
    this.#background(pod, done);
    this.#background(pod, this.#watchDeadline(pod, run, done));
  }

  /** A kubelet that starts and finds a running Pod without its container. */
  #lostContainer(pod: Pod): PodStatus {
    const now = `${this.#options.clock.now().toISOString().slice(0, 19)}Z`;
    const message = 'The container could not be located when the pod was terminated';
    const end = { exitCode: 137, reason: 'ContainerStatusUnknown', message };
    const base = { pod, hostIp: this.#options.hostIp, startTime: pod.status?.startTime ?? now };
    return ended(base, { ...end, startedAt: now, finishedAt: now });
  }

  async #watchDeadline(pod: Pod, run: PodRun, done: Promise<void>): Promise<void> {
    const seconds = pod.spec?.activeDeadlineSeconds;
    if (seconds === undefined) return;
    const over = new AbortController();
    const end = (): void => over.abort(new Error('the Pod has ended'));
    void done.then(end, end);
    try {
      await this.#options.clock.sleep(seconds * 1000, over.signal);
    } catch (error) {
      if (over.signal.aborted) return;
      throw error;
    }
    await run.stop({ kind: 'deadline' });
  }

  async #leave(pod: Pod): Promise<void> {
    const { uid = '', namespace, name } = pod.metadata;
    this.#leaving.add(uid);
    const known = this.#runs.get(uid);
    const graceMs = (pod.spec?.terminationGracePeriodSeconds ?? 30) * 1000;
    await known?.run.stop({ kind: 'deleted', graceMs });
    await known?.done;
    const ref = { name, ...(namespace ? { namespace } : {}) };
    await this.#untilDone(() =>
      this.#options.client.delete(pods, ref, { uid, gracePeriodSeconds: 0 }),
    );
    this.#leaving.delete(uid);
  }

  async #report(pod: Pod, status: PodStatus): Promise<void> {
    const { namespace, name, uid } = pod.metadata;
    const metadata = { name, ...(namespace ? { namespace } : {}), ...(uid ? { uid } : {}) };
    const options = { fieldManager, force: true };
    await this.#untilDone(() =>
      this.#options.client.applyStatus(pods, { metadata, status }, options),
    );
  }

  /** Repeats a write until it is done or there is nothing left to write to. */
  async #untilDone(write: () => Promise<unknown>): Promise<void> {
    const { clock, life, random, signal } = this.#options;
    for (let attempt = 0; !signal.aborted; attempt += 1) {
      await life.up;
      if (signal.aborted) return;
      try {
        await write();
        return;
      } catch (error) {
        // Gone, or another Pod has its name now.
        if (isNotFound(error) || isConflict(error) || isInvalid(error)) return;
        const pauseMs = backoffMs(attempt, { baseMs: 500, maxMs: 10_000 }, random);
        await clock.sleep(pauseMs, signal).catch(() => undefined);
      }
    }
  }

  #background(pod: Pod, work: Promise<void>): void {
    work.catch((error: unknown) => this.#options.log('Pod is not looked after', pod, error));
  }
}

function hasEnded({ status }: Pod): boolean {
  return status?.phase === 'Succeeded' || status?.phase === 'Failed';
}
