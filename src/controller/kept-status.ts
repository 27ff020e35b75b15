import type { NodeConfigStatus } from '../api/multinicnodeconfig.ts';
import { isSameJson } from '../api/same-json.ts';
import { keyOf } from '../kube/object.ts';
import { type Applied, appliedIn } from './applied.ts';
import type { NodeConfig } from './stores.ts';

/**
 * Records as they were written here, where the cluster keeps less of them: its CustomResourceDefinition is older than this
 * controller. Decided by what was kept, a node would look as if it had been started anew, or as if nobody had looked at it,
 * again and again. Of what this process did not write it knows nothing: that costs one run more after a restart.
 */
export class KeptRecords {
  readonly #written = new Map<string, Applied>();
  readonly #told = new Set<string>();
  readonly #tellLost: (fields: readonly string[]) => void;

  /** `tellLost`: hears once of each field of `status.applied` that is not kept. */
  constructor(tellLost: (fields: readonly string[]) => void) {
    this.#tellLost = tellLost;
  }

  /** What a write of this status has left on the server; answers the object with its whole record. */
  note(config: NodeConfig, status: NodeConfigStatus): NodeConfig {
    const key = keyOf(config);
    const written = appliedIn(status);
    const lost = written ? lostOf(written, config.status) : [];
    if (written && lost.length > 0) this.#written.set(key, written);
    else this.#written.delete(key);
    const news = lost.filter((field) => !this.#told.has(field));
    for (const field of news) this.#told.add(field);
    if (news.length > 0) this.#tellLost(news);
    return this.whole(config);
  }

  /** The object with its whole record. */
  whole(config: NodeConfig): NodeConfig {
    return { ...config, status: withRecord(config.status, this.#written.get(keyOf(config))) };
  }

  /** The object is gone. */
  forget(key: string): void {
    this.#written.delete(key);
  }
}

/** The status with the record as it was written; as it is when its record is another one, or none. */
function withRecord(
  status: NodeConfigStatus | undefined,
  written: Applied | undefined,
): NodeConfigStatus | undefined {
  return written && isRestOf(appliedIn(status), written) ? { ...status, applied: written } : status;
}

function lostOf(written: Applied, status: NodeConfigStatus | undefined): readonly string[] {
  const kept = appliedIn(status);
  return isRestOf(kept, written)
    ? Object.keys(written).filter((field) => !Object.hasOwn(kept, field))
    : [];
}

function isRestOf(kept: Applied | undefined, written: Applied): kept is Applied {
  return kept !== undefined && isSameJson({ ...written, ...kept }, written);
}

/** Whether a status is the one that was written, or what an older CustomResourceDefinition left of it and its record. */
export function isLeftOf(status: NodeConfigStatus | undefined, written: NodeConfigStatus): boolean {
  const applied = { ...written.applied, ...status?.applied };
  return isSameJson({ ...status, applied }, { ...written, applied: { ...written.applied } });
}
