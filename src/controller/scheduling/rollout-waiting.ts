import type { Step } from './rollout.ts';

/** Objects waiting for their rollout share, by revision, longest first. */
export class RolloutWaiting {
  /** Node domain by revision and key. */
  readonly #byRevision = new Map<string, Map<string, string | undefined>>();
  readonly #revisions = new Map<string, string>();
  /** Rollout step shown by waiting objects, by revision. */
  readonly #shown = new Map<string, Step>();

  get revisions(): readonly string[] {
    return [...this.#byRevision.keys()];
  }

  /** `step`: rollout step shown in the object's status. */
  add(key: string, revision: string, domain: string | undefined, step: Step): void {
    this.delete(key);
    const keys = this.#byRevision.get(revision) ?? new Map<string, string | undefined>();
    keys.set(key, domain);
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
   * domain (undefined: any domain). A change in the failed-node list wakes no object: each retry would wake a thousand
   * objects.
   */
  take(revision: string, step: Step, room: number, domain: string | undefined): string[] {
    const all = [...(this.#byRevision.get(revision) ?? [])];
    const isNew = this.#shown.get(revision) !== step;
    const able = all.filter(([, own]) => domain === undefined || own === domain);
    const keys = (isNew ? all : able.slice(0, room)).map(([key]) => key);
    for (const key of keys) this.delete(key);
    if (this.#byRevision.has(revision)) this.#shown.set(revision, step);
    return keys;
  }
}
