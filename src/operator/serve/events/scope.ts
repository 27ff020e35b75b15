import type { ClusterView } from '../../../api/read-http.ts';

/** A business cluster's row, and the same row as text without dates. */
interface ClusterRow {
  readonly row: ClusterView;
  readonly undated: string;
}

/** Readers with equal rights: a business cluster's sums depend on the reader's visible OpenstackConfigs. */
export class Scope {
  /** Business clusters visible to the readers; undefined: all. */
  readonly providers: readonly string[] | undefined;
  #rows: ReadonlyMap<string, ClusterRow> | undefined;

  constructor(providers: readonly string[] | undefined) {
    this.providers = providers;
  }

  /** False: the business clusters were not read yet. */
  get hasRows(): boolean {
    return this.#rows !== undefined;
  }

  row(providerId: string): ClusterView | undefined {
    return this.#rows?.get(providerId)?.row;
  }

  /** Takes the rows as they are now; returns the changed keys. The first rows are no change. */
  take(rows: readonly ClusterView[]): string[] {
    const before = this.#rows;
    const now = new Map(rows.map((row) => [row.providerId, { row, undated: undated(row) }]));
    this.#rows = now;
    if (!before) return [];
    const keys = new Set([...before.keys(), ...now.keys()]);
    return [...keys].filter((key) => before.get(key)?.undated !== now.get(key)?.undated);
  }
}

/** Checks and syncs without changes move the dates. */
function undated({ lastSyncs, ...row }: ClusterView): string {
  const configs = lastSyncs?.map(({ config }) => config);
  return JSON.stringify({ ...row, configs, checkedAt: '', oldestCheck: '' });
}
