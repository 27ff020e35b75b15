import type { Step } from './rollout.ts';

/** An object waiting for its rollout share. */
interface WaitingChange {
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
  readonly #revisions = new Map<string, Set<string>>();
  /** Rollout step shown by waiting objects, by revision. */
  readonly #shown = new Map<string, Step>();

  get revisions(): readonly string[] {
    return [...this.#byRevision.keys()];
  }

  /** Replaces the revisions for which an object waits. */
  set(key: string, changes: readonly WaitingChange[]): void {
    this.delete(key, this.revisionsOf(key));
    for (const change of changes) {
      const { revision, step } = change;
      const keys = this.#byRevision.get(revision) ?? new Map<string, WaitingChange>();
      keys.set(key, change);
      this.#byRevision.set(revision, keys);
      if (!this.#shown.has(revision)) this.#shown.set(revision, step);
    }
    if (changes.length === 0) return;
    this.#revisions.set(key, new Set(changes.map(({ revision }) => revision)));
  }

  revisionsOf(key: string): readonly string[] {
    return [...(this.#revisions.get(key) ?? [])];
  }

  delete(key: string, revisions: readonly string[]): void {
    const own = this.#revisions.get(key);
    if (!own) return;
    for (const revision of revisions) {
      own.delete(revision);
      const keys = this.#byRevision.get(revision);
      keys?.delete(key);
      if (keys?.size !== 0) continue;
      this.#byRevision.delete(revision);
      this.#shown.delete(revision);
    }
    if (own.size === 0) this.#revisions.delete(key);
  }

  /**
   * Removes and returns keys that must retry: all if their shown step is outdated, otherwise at most `room` in this
   * domain. A change in the failed-node list wakes no object: each retry would wake a thousand objects.
   */
  take(revision: string, { step, room, domain, hasSound }: FreeShare): string[] {
    const all = [...(this.#byRevision.get(revision) ?? [])];
    const isNew = this.#shown.get(revision) !== step;
    const inDomain = all.filter(([, one]) => domain === undefined || one.domain === domain);
    const first = inDomain.filter(([, { isLast }]) => !isLast);
    const last = inDomain.filter(([, { isLast }]) => isLast);
    const able = last.length > 0 && (first.length > 0 || hasSound()) ? first : inDomain;
    const keys = (isNew ? all : able.slice(0, room)).map(([key]) => key);
    for (const key of keys) this.delete(key, [revision]);
    if (this.#byRevision.has(revision)) this.#shown.set(revision, step);
    return keys;
  }
}
