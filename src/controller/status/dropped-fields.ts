import { createHash } from 'node:crypto';
import type { NodeConfigStatus } from '../../api/multinicnodeconfig.ts';
import { isSameJson } from '../../api/same-json.ts';
import { canonicalJson } from '../../api/spec-hash.ts';
import { keyOf } from '../../kube/object.ts';
import { type Applied, appliedIn } from '../jobs/applied.ts';
import type { NodeConfig } from '../objects/stores.ts';

/** A status of which the cluster has kept something else. */
interface Written {
  readonly uid: string | undefined;
  /** Hash of what it has kept. */
  readonly kept: string;
  /** As it was written, as JSON: there may be one for each node. */
  readonly text: string;
}

/**
 * Statuses as they were written here, where the cluster keeps less of them: its CustomResourceDefinition is older than this
 * controller. By what was kept, the same would be written again and again, and a node would look as if it had been started
 * anew, or as if nobody had looked at it. Of what this process did not write it knows nothing: that costs one run more after
 * a restart.
 */
export class KeptStatuses {
  readonly #written = new Map<string, Written>();
  readonly #lost = new Set<string>();
  readonly #tellLost: (fields: readonly string[]) => void;

  /** `tellLost`: hears once of each field that is not kept, like `status.interfaceStatuses[].mtu`. */
  constructor(tellLost: (fields: readonly string[]) => void) {
    this.#tellLost = tellLost;
  }

  /** What a write of this status has left on the server; answers the object with its status as it was written. */
  note(config: NodeConfig, status: NodeConfigStatus): NodeConfig {
    const key = keyOf(config);
    const lost = [...new Set(lostOf(status, config.status))];
    if (lost.length === 0) {
      this.#written.delete(key);
      return config;
    }
    const { uid } = config.metadata;
    this.#written.set(key, { uid, kept: hashOf(config.status), text: JSON.stringify(status) });
    const news = lost.filter((field) => !this.#lost.has(field));
    for (const field of news) this.#lost.add(field);
    if (news.length > 0) this.#tellLost(news);
    return this.whole(config);
  }

  /** The object with its status as it was written; with its record alone when somebody has changed something else. */
  whole(config: NodeConfig): NodeConfig {
    const written = this.#written.get(keyOf(config));
    if (!written || written.uid !== config.metadata.uid) return config;
    const status = JSON.parse(written.text) as NodeConfigStatus;
    const record = appliedIn(status);
    const rest = written.kept === hashOf(config.status) ? status : config.status;
    // A record that came to nothing is none: whether an agent may be sent is up to what the server keeps.
    const kept = config.status?.applied;
    const applied = record && isRestOf(appliedIn(config.status), record) ? record : kept;
    return { ...config, status: rest && { ...rest, applied } };
  }

  /** Whether a status is the one that was written, but for what the cluster is known not to keep. */
  isLeftOf(status: NodeConfigStatus | undefined, written: NodeConfigStatus): boolean {
    return lostOf(written, status).every((field) => this.#lost.has(field));
  }

  /** The object is gone. */
  forget(key: string): void {
    this.#written.delete(key);
  }
}

function hashOf(status: NodeConfigStatus | undefined): string {
  return createHash('sha256')
    .update(canonicalJson([status]))
    .digest('base64');
}

function isRestOf(kept: Applied | undefined, written: Applied): kept is Applied {
  return kept !== undefined && isSameJson({ ...written, ...kept }, written);
}

/** Which fields are others than they were written. */
function lostOf(written: unknown, kept: unknown, path = 'status'): readonly string[] {
  if (isSameJson(written, kept)) return [];
  if (Array.isArray(written) && Array.isArray(kept) && written.length === kept.length) {
    return written.flatMap((item, at) => lostOf(item, kept[at], `${path}[]`));
  }
  if (!isFields(written) || !isFields(kept)) return [path];
  const fields = [...new Set([...Object.keys(written), ...Object.keys(kept)])];
  return fields.flatMap((field) => lostOf(written[field], kept[field], `${path}.${field}`));
}

function isFields(value: unknown): value is Readonly<Record<string, unknown>> {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}
