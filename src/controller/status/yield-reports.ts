import { findCondition } from '../../api/condition.ts';
import { isWrittenByLegacy, otherControllerActive } from '../../api/legacy-status.ts';
import { keyOf } from '../../kube/object.ts';
import type { NodeConfig } from '../objects/stores.ts';

/** An earlier report about the legacy controller on an object. */
interface OtherReported {
  readonly uid: string | undefined;
  readonly generation: number | undefined;
  /** True if the legacy controller was running then or later. */
  readonly wasRunning: boolean;
}

/** Reports that the legacy controller owns an object, by key. */
export class YieldReports {
  readonly #byKey = new Map<string, OtherReported>();

  /** True if the object needs no new report: the legacy controller only overwrote the last report, which is noted. */
  repeats(config: NodeConfig, isRunning: boolean): boolean {
    const key = keyOf(config);
    const last = this.#byKey.get(key);
    if (last === undefined || !lacksReport(config) || !isStillTrue(last, config, isRunning)) {
      return false;
    }
    this.#byKey.set(key, { ...last, wasRunning: isRunning });
    return true;
  }

  wrote(config: NodeConfig, wasRunning: boolean): void {
    const { uid, generation } = config.metadata;
    this.#byKey.set(keyOf(config), { uid, generation, wasRunning });
  }

  /** Call when MultiNIC owns the object again, and when the object is gone. */
  forget(key: string): void {
    this.#byKey.delete(key);
  }
}

/** True if the legacy controller has overwritten the report, as each of its writes does. */
function lacksReport({ status }: NodeConfig): boolean {
  return (
    status !== undefined &&
    isWrittenByLegacy(status) &&
    findCondition(status.conditions, otherControllerActive) === undefined
  );
}

/**
 * True if an overwritten report needs no repetition. While the legacy controller runs, a second write would conflict
 * with its next write and restart its agent; its status format is evidence enough. After it stopped, its status says
 * nothing about the current owner or a later spec.
 */
function isStillTrue(last: OtherReported, { metadata }: NodeConfig, isRunning: boolean): boolean {
  if (last.uid !== metadata.uid) return false;
  return isRunning || (!last.wasRunning && last.generation === metadata.generation);
}
