import type { Step } from './rollout.ts';

/** An object waiting for its rollout share. */
interface WaitingChange {
  readonly key: string;
  readonly revision: string;
  /** Domain of the node. */
  readonly domain: string | undefined;
  /** Rollout step shown in the object's status. */
  readonly step: Step;
  /** True if sound nodes change first. */
  readonly isLast: boolean;
}

/** Which waiting objects may start now. */
interface FreeShare {
  readonly step: Step;
  readonly room: number;
  /** Undefined: any domain. */
  readonly domain: string | undefined;
  /** True if sound nodes are left. */
  readonly hasSound: () => boolean;
}

/** Objects waiting for their rollout share, by revision, longest first. */
export class RolloutWaiting {
  readonly #byRevision = new Map<string, Map<string, WaitingChange>>();
  readonly #revisions = new Map<string, string>();
  /** Rollout step shown by waiting objects, by revision. */
  readonly #shown = new Map<string, Step>();

  get revisions(): readonly string[] {
    return [...this.#byRevision.keys()];
  }

  add(change: WaitingChange): void {
    const { key, revision, step } = change;
    this.delete(key);
    const keys = this.#byRevision.get(revision) ?? new Map<string, WaitingChange>();
    keys.set(key, change);
    this.#byRevision.set(revision, keys);
    this.#revisions.set(key, revision);
    if (!this.#shown.has(revision)) this.#shown.set(revision, step);
  }

  revisionOf(key: string): string | undefined {
    return this.#revisions.get(key);
  }

  delete(key: string): void {
    const revision = this.#revisions.get(key);
    if (revision === undefined) return;
    this.#revisions.delete(key);
    const keys = this.#byRevision.get(revision);
    keys?.delete(key);
    if (keys?.size !== 0) return;
    this.#byRevision.delete(revision);
    this.#shown.delete(revision);
  }

  /**
   * Removes and returns keys that must retry: all if their shown step is outdated, otherwise at most `room` in this
   * domain. A change in the failed-node list wakes no object: each retry would wake a thousand objects.
   */
  take(revision: string, { step, room, domain, hasSound }: FreeShare): string[] {
    const all = [...(this.#byRevision.get(revision)?.values() ?? [])];
    const isNew = this.#shown.get(revision) !== step;
    const inDomain = all.filter((one) => domain === undefined || one.domain === domain);
    const first = inDomain.filter(({ isLast }) => !isLast);
    const last = inDomain.filter(({ isLast }) => isLast);
    const able = last.length > 0 && (first.length > 0 || hasSound()) ? first : inDomain;
    const keys = (isNew ? all : able.slice(0, room)).map(({ key }) => key);
    for (const key of keys) this.delete(key);
    if (this.#byRevision.has(revision)) this.#shown.set(revision, step);
    return keys;
  }
}
