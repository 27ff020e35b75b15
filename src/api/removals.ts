/**
 * Decides what may leave a node. The operator asks about the NICs of a cloud, the controller about the nodes of its
 * cluster; their guards against deletions by mistake use the same limits.
 */

/** Why something is to go. */
export type RemovalBasis =
  /** There is evidence about the port or its server. */
  | 'proven'
  /** An edit or an annotation of the object names it. */
  | 'named'
  /** Neither: it follows from something else, such as a setting of the operator. */
  | 'sideEffect';

export interface PendingRemoval {
  /** What goes: a NIC, a node or an object; equal for the same one. */
  readonly item: string;
  readonly basis: RemovalBasis;
  /** Somebody agreed to it. */
  readonly hasConsent: boolean;
}

/** So many items may go at once without consent: `always`, or this part of all of them if that is more. */
export interface RemovalLimit {
  readonly always: number;
  readonly part: number;
}

export const removalLimits = {
  /** NICs that OpenstackConfigs deliver from one cloud. */
  nicsOfCloud: { always: 10, part: 0.2 },
  /** Nodes of a business cluster that lose NICs within a minute; of a few each is a large part. */
  nodesOfCluster: { always: 3, part: 0.2 },
  /** Nodes of a MultiNicBizConfig that lose NICs by one generation of it. */
  nodesOfSource: { always: 3, part: 0.2 },
  /** OpenstackConfigs that are deleted within a minute. */
  openstackConfigs: { always: 3, part: 0.2 },
} as const satisfies Record<string, RemovalLimit>;

/** How many of `total` items may go at once without consent. */
export function allowedAtOnce(total: number, { always, part }: RemovalLimit): number {
  return Math.max(always, Math.floor(part * total));
}

export interface RemovalDecision {
  /** Items that stay until somebody agrees. */
  readonly held: ReadonlySet<string>;
  /** Items that would go at once without consent, and how many may. */
  readonly count: number;
  readonly allowed: number;
}

interface DecisionInput {
  readonly removals: readonly PendingRemoval[];
  /** Items that went without consent just before; they count with those that go now. */
  readonly recent: Iterable<string>;
  /** Items there are, or were before the first of them went. */
  readonly total: number;
  readonly limit: RemovalLimit;
}

/**
 * Which removals wait for consent: a side effect always, a named or proven one when too many go at once. Consent is neither
 * asked for twice nor counted.
 */
export function decideRemovals({ removals, recent, total, limit }: DecisionInput): RemovalDecision {
  const open = removals.filter(({ hasConsent }) => !hasConsent);
  const [sideEffects, meant] = [
    open.filter(isSideEffect),
    open.filter((one) => !isSideEffect(one)),
  ];
  const count = meant.length === 0 ? 0 : new Set([...meant.map(itemOf), ...recent]).size;
  const allowed = allowedAtOnce(total, limit);
  const held = count > allowed ? [...sideEffects, ...meant] : sideEffects;
  return { held: new Set(held.map(itemOf)), count, allowed };
}

function isSideEffect({ basis }: PendingRemoval): boolean {
  return basis === 'sideEffect';
}

function itemOf({ item }: PendingRemoval): string {
  return item;
}
