import { compareText } from '../../../plan/view.ts';
import type { ReportedCluster } from './viola-clusters.ts';

/** Which ids of a Viola are the same business cluster. */
export class ClusterIdentities {
  /** Registered clusters by id; undefined: not read yet. */
  #registered: ReadonlyMap<string, Pick<ReportedCluster, 'server' | 'uid'>> | undefined;
  /** Ids by id whose lists have shared an object. */
  readonly #proven = new Map<string, Set<string>>();

  /** Uses the present registrations. A cluster without answer keeps its known uid, unless its server has changed. */
  use(clusters: readonly ReportedCluster[]): void {
    const before = this.#registered;
    this.#registered = new Map(
      clusters.map(({ providerId, server, uid }) => {
        const earlier = before?.get(providerId);
        const known = uid ?? (earlier?.server === server ? earlier.uid : undefined);
        return [providerId, { server, uid: known }];
      }),
    );
    for (const [id, { server }] of before ?? []) {
      if (this.#registered.get(id)?.server !== server) this.#forget(id);
    }
  }

  /** Drops the proof about an id that is registered for a different cluster, or no more. */
  #forget(id: string): void {
    this.#proven.delete(id);
    for (const ids of this.#proven.values()) ids.delete(id);
  }

  noteSame(id: string, others: readonly string[]): void {
    for (const other of others) {
      this.#add(id, other);
      this.#add(other, id);
    }
  }

  /** Returns the further registered ids of this id's cluster, sorted. An unknown uid is never a different uid. */
  sameAs(id: string): string[] {
    const uid = this.#uidOf(id);
    const ids = new Set([...(this.#registered?.keys() ?? []), ...(this.#proven.get(id) ?? [])]);
    return [...ids]
      .filter((other) => other !== id && this.#isSame(id, uid, other))
      .toSorted(compareText);
  }

  #isSame(id: string, uid: string | undefined, other: string): boolean {
    if (this.#registered && !this.#registered.has(other)) return false;
    const otherUid = this.#uidOf(other);
    if (uid !== undefined && otherUid !== undefined) return uid === otherUid;
    return this.#proven.get(id)?.has(other) ?? false;
  }

  #uidOf(id: string): string | undefined {
    return this.#registered?.get(id)?.uid;
  }

  #add(id: string, other: string): void {
    const ids = this.#proven.get(id) ?? new Set();
    this.#proven.set(id, ids.add(other));
  }
}
