/** A Viola's abilities beyond accepting nodes with NICs. */
export interface Abilities {
  /** Deletes nodes, and accepts nodes without NICs. */
  readonly removes: boolean;
  /** Returns node status. */
  readonly reports: boolean;
  /** Number of concurrent POSTs in a delivery. */
  readonly postsAtOnce: number;
}

export const nativeAbilities: Abilities = { removes: true, reports: true, postsAtOnce: 4 };

/** Each POST runs kubectl, which needs 14 to 23 ms per node and is stopped after 30 s. */
export const legacyAbilities: Abilities = { removes: false, reports: false, postsAtOnce: 1 };
