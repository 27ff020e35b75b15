import { type Condition, findCondition } from '../../api/condition.ts';
import type { Effect } from '../../api/effects.ts';
import type { BizConfigStatus } from '../../api/multinicbizconfig.ts';
import { fieldManagers } from '../../api/names.ts';
import type { Reason } from '../../api/reasons.ts';
import { isSameJson } from '../../api/same-json.ts';
import { type BizConfig, bizConfigsIn } from '../../biz-config/biz-config.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import type { EventRecorder } from '../../kube/events.ts';
import type { Perform } from '../../process/effects.ts';
import type { Clock } from '../../time/clock.ts';
import { namesEdit } from './conditions.ts';
import { hasNewValue } from './removal.ts';
import { statusPatch } from './status.ts';
import { type GroupWatch, sourceKey } from './watch.ts';

/** Minimum interval between two writes of one status. */
const writeEveryMs = 5_000;

export interface BizReporterOptions {
  readonly client: Pick<KubeClient, 'patchStatus'>;
  readonly recorder: Pick<EventRecorder, 'record'>;
  readonly perform: Perform<Effect>;
  readonly clock: Pick<Clock, 'monotonicMs'>;
}

const nothingMore = { againInMs: undefined };

interface Last {
  readonly atMs: number;
  readonly uid: string | undefined;
  readonly wanted: BizConfigStatus;
  /** Status as stored by the API server: an older CRD drops fields. */
  readonly stored: BizConfigStatus | undefined;
}

/** Writes source statuses, only if changed and at most once in 5 s. */
export class BizReporter {
  readonly #options: BizReporterOptions;
  readonly #last = new Map<string, Last>();

  constructor(options: BizReporterOptions) {
    this.#options = options;
  }

  /**
   * Writes the status if changed. `againInMs`: requeue delay if the write came too early, or if the status now shows a
   * new annotation value, for which removals wait; undefined: no requeue.
   */
  async write(
    { group, store }: GroupWatch,
    source: BizConfig,
    wanted: BizConfigStatus,
    signal: AbortSignal,
  ): Promise<{ readonly againInMs: number | undefined }> {
    const { client, clock, perform } = this.#options;
    const { namespace = '', name, uid } = source.metadata;
    const key = sourceKey(group, `${namespace}/${name}`);
    const patch = statusPatch(source, wanted);
    const last = this.#last.get(key);
    if (patch === undefined || (last && isStored(last, source, wanted))) return nothingMore;
    const waitMs = last ? last.atMs + writeEveryMs - clock.monotonicMs() : 0;
    if (waitMs > 0) return { againInMs: waitMs };
    const stored = await perform('controller.biz-config.status', () =>
      client.patchStatus(bizConfigsIn(group), { namespace, name }, patch, {
        fieldManager: fieldManagers.bizConfig,
        signal,
      }),
    );
    this.#last.set(key, { atMs: clock.monotonicMs(), uid, wanted, stored: stored.status });
    store.upsert(stored);
    this.#notify(source, wanted);
    const isHandled = hasNewValue(source) && !hasNewValue(stored);
    return isHandled ? { againInMs: 0 } : nothingMore;
  }

  forget(key: string): void {
    this.#last.delete(key);
  }

  /** Records one event per edit with held removals, and per edit not followed. */
  #notify(source: BizConfig, { conditions }: BizConfigStatus): void {
    for (const type of ['RemovalHeld', 'ReadOnly'] satisfies Reason[]) {
      const now = findCondition(conditions, type);
      if (!now || !isNews(now, conditions, source.status?.conditions)) continue;
      const { message = '' } = now;
      this.#options.recorder.record(source, { type: 'Warning', reason: type, message });
    }
  }
}

function isNews(now: Condition, conditions: Conditions, former: Conditions): boolean {
  const before = findCondition(former, now.type);
  const isRepeated = before?.observedGeneration === now.observedGeneration && before !== undefined;
  if (now.type !== 'ReadOnly') return !isRepeated;
  return namesEdit(conditions) && !(isRepeated && namesEdit(former));
}

type Conditions = readonly Condition[] | undefined;

function isStored(last: Last, { metadata, status }: BizConfig, wanted: BizConfigStatus): boolean {
  return (
    last.uid === metadata.uid && isSameJson(last.wanted, wanted) && isSameJson(last.stored, status)
  );
}
