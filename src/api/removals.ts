/**
 * Decides which removals need consent. The operator decides about a cloud's NICs, the controller about its cluster's
 * nodes; both guards against accidental deletions use the same limits.
 */

/** Basis for a removal. */
export type RemovalBasis =
  /** Evidence about the port or its server exists. */
  | 'proven'
  /** An edit or annotation on the object requests the removal. */
  | 'named'
  /** Neither: the removal results from another change, such as an operator setting. */
  | 'sideEffect';

export interface PendingRemoval {
  /** Key for a NIC, node or object; equal keys mean the same item. */
  readonly item: string;
  readonly basis: RemovalBasis;
  /** True: a user consented. */
  readonly hasConsent: boolean;
}

/** Removals allowed without consent: the larger value from `always` and the fraction `part`. */
export interface RemovalLimit {
  readonly always: number;
  readonly part: number;
}

export const removalLimits = {
  /** NICs delivered by OpenstackConfigs from one cloud. */
  nicsOfCloud: { always: 10, part: 0.2 },
  /** Nodes in a business cluster that lose NICs within a minute; in small clusters each node is a large part. */
  nodesOfCluster: { always: 3, part: 0.2 },
  /** Nodes that lose NICs by one MultiNicBizConfig generation. */
  nodesOfSource: { always: 3, part: 0.2 },
  /** OpenstackConfigs deleted within a minute. */
  openstackConfigs: { always: 3, part: 0.2 },
} as const satisfies Record<string, RemovalLimit>;

/** Returns how many of `total` items may be removed without consent. */
export function allowedAtOnce(total: number, { always, part }: RemovalLimit): number {
  return Math.max(always, Math.floor(part * total));
}

export interface RemovalDecision {
  /** Items that stay until consent. */
  readonly held: ReadonlySet<string>;
  /** Number of removals without consent, and the allowed number. */
  readonly count: number;
  readonly allowed: number;
}

interface DecisionInput {
  readonly removals: readonly PendingRemoval[];
  /** Items removed recently without consent, counted together with current removals. */
  readonly recent: Iterable<string>;
  /** Number of items now, or before the first removal. */
  readonly total: number;
  readonly limit: RemovalLimit;
}

/**
 * Decides which removals wait for consent: side effects always, named and proven removals above the limit. Removals
 * with consent are neither held nor counted.
 */
export function decideRemovals({ removals, recent, total, limit }: DecisionInput): RemovalDecision {
  const open = removals.filter(({ hasConsent }) => !hasConsent);
  const [sideEffects, intended] = [
    open.filter(isSideEffect),
    open.filter((one) => !isSideEffect(one)),
  ];
  const count = intended.length === 0 ? 0 : new Set([...intended.map(itemOf), ...recent]).size;
  const allowed = allowedAtOnce(total, limit);
  const held = count > allowed ? [...sideEffects, ...intended] : sideEffects;
  return { held: new Set(held.map(itemOf)), count, allowed };
}

function isSideEffect({ basis }: PendingRemoval): boolean {
  return basis === 'sideEffect';
}

function itemOf({ item }: PendingRemoval): string {
  return item;
}
