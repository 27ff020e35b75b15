import * as z from 'zod';

/**
 * The gate for removals. Operator, controller, Viola and the expansion of MultiNicBizConfigs decide about
 * removals with `decideRemovals`.
 */

/** Basis of a removal in records. */
export const removalBasis = z.enum([
  /** OpenStack shows the loss of the port or server. */
  'evidence',
  /** A user consented to the removal of exactly this NIC. */
  'consent',
  /** A user or GitOps edited or deleted the object: counts in the budget. */
  'named',
  /** Result of a different change, such as a restore or an operator setting. */
  'sideEffect',
]);

export type RemovalBasis = z.infer<typeof removalBasis>;

/** Causes beside the reason `RemovalHeld`, explained in the reasons table. */
export const holdCodes = ['OverBudget', 'NotCounted', 'SideEffect', 'NotKnownYet'] as const;

export type HoldCode = (typeof holdCodes)[number];

/** Returns the code at the beginning of a RemovalHeld message; undefined: none, from an earlier part. */
export function holdCodeOf(message: string | undefined): HoldCode | undefined {
  return holdCodes.find((code) => message?.startsWith(`${code}: `));
}

/** A NIC that would leave a node. */
export interface NicRemoval {
  readonly basis: RemovalBasis;
  /** True: evidence against a link that is still present on a Ready node; such a removal counts in the budget. */
  readonly isContradicted?: boolean;
}

/** Removals of this period count together, in milliseconds. */
export const budgetWindowMs = 3_600_000;
/** Lifetime of a consent until an agent run is queued, in milliseconds. */
export const consentLifetimeMs = 3_600_000;
/** Delay before the first removal, to see simultaneous removals, in milliseconds. */
export const settleMs = 3_000;

/** Removals allowed without consent: the larger of `always` and the fraction `part`. */
interface RemovalLimit {
  readonly always: number;
  readonly part: number;
}

/** Limits per hour: nodes losing NICs in a business cluster, NICs in the cluster, NICs from an OpenstackConfig. */
export const budgetLimits = {
  clusterNodes: { always: 3, part: 0.2 },
  clusterNics: { always: 10, part: 0.2 },
  configNics: { always: 10, part: 0.2 },
} as const satisfies Record<string, RemovalLimit>;

export type BudgetScope = keyof typeof budgetLimits;

/** Use of a budget. */
export interface BudgetUse {
  readonly scope: BudgetScope;
  /** Nodes or NICs removed in the last hour, waiting, and requested now; each counts once. */
  readonly used: number;
  /** Nodes or NICs before the removals of the last hour. */
  readonly total: number;
}

/** Returns how many nodes or NICs may lose NICs within an hour without consent. */
export function allowedIn({ scope, total }: Pick<BudgetUse, 'scope' | 'total'>): number {
  const { always, part } = budgetLimits[scope];
  return Math.max(always, Math.floor(part * total));
}

/** Returns the first budget with more use than allowed; undefined: none. */
export function exceededBudget(budgets: readonly BudgetUse[]): BudgetUse | undefined {
  return budgets.find((budget) => budget.used > allowedIn(budget));
}

/** True if the removal counts in the budget. */
export function countsInBudget({ basis, isContradicted = false }: NicRemoval): boolean {
  return basis === 'named' || (basis === 'evidence' && isContradicted);
}

export interface RemovalDecision<T> {
  readonly allowed: readonly T[];
  readonly held: readonly { readonly removal: T; readonly code: HoldCode }[];
}

/**
 * Decides which removals may start. Evidence and consent may; side effects wait for consent. Removals counted in the
 * budget start all or none: with any budget exceeded, all wait. `isHeld`: held by an earlier decision, and waiting until
 * consent even with budget left.
 */
export function decideRemovals<T extends NicRemoval>(
  removals: readonly T[],
  {
    budgets,
    isHeld = false,
  }: { readonly budgets: readonly BudgetUse[]; readonly isHeld?: boolean },
): RemovalDecision<T> {
  const isOver = isHeld || exceededBudget(budgets) !== undefined;
  const codeOf = (removal: T): HoldCode | undefined => {
    if (removal.basis === 'sideEffect') return 'SideEffect';
    return isOver && countsInBudget(removal) ? 'OverBudget' : undefined;
  };
  return {
    allowed: removals.filter((removal) => codeOf(removal) === undefined),
    held: removals.flatMap((removal) => {
      const code = codeOf(removal);
      return code === undefined ? [] : [{ removal, code }];
    }),
  };
}
