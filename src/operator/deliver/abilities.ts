/** What a Viola can do beside taking nodes with NICs. */
export interface Abilities {
  /** Deletes nodes, and takes nodes without NICs. */
  readonly removes: boolean;
  /** Returns the status of nodes. */
  readonly reports: boolean;
  /** POSTs of one delivery that are under way together. */
  readonly postsAtOnce: number;
}

export const nativeAbilities: Abilities = { removes: true, reports: true, postsAtOnce: 4 };

/** Each POST runs kubectl, which needs 14 to 23 ms for a node and is stopped after 30 s. */
export const legacyAbilities: Abilities = { removes: false, reports: false, postsAtOnce: 1 };
