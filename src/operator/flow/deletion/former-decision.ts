import { wasOverBudget } from '../../../api/held-nics.ts';
import type { ExistingNodeConfig } from '../../../api/node-configs-http.ts';
import {
  allowedIn,
  countsInBudget,
  decideRemovals,
  type RemovalBasis,
} from '../../../api/removals.ts';
import { isKeptByController } from '../../../plan/kept-nics.ts';
import type { PlannedUse } from '../../../plan/plan.ts';
import { latestObject } from '../../model/memory/latest-object.ts';
import type { ConfigObject } from '../../model/openstack-config.ts';
import { budgetsOf } from '../../removals/budgets.ts';
import { coveredNodes, nicsOfDelete, storedHoldOf } from '../../removals/held-set.ts';
import { isOverBudget, waitsForConsent } from '../../removals/hold.ts';
import { countNics, macsOn } from '../../removals/nics-on.ts';
import { recordsOf } from '../../removals/records.ts';
import { removalMemory } from '../../removals/removal-memory.ts';
import { type DeliveredContext, formerPrefix } from '../sync/delivery.ts';
import { basisOf } from './former-basis.ts';
import { isThere, type NodeRemoval } from './withdraw.ts';

/** Planned node removal with a basis. */
export interface FormerNode {
  readonly node: ExistingNodeConfig;
  readonly basis: RemovalBasis;
}

interface Cluster {
  readonly provider: string;
  readonly others: readonly ConfigObject[];
  readonly now: Date;
}

/** Decides which nodes leave a former business cluster. */
export function decideFormer(
  own: readonly ExistingNodeConfig[],
  cluster: Cluster,
  context: DeliveredContext,
) {
  const { object, planned } = context;
  const latest = latestObject(context);
  const all = own
    .filter(isThere)
    .map((node): FormerNode => ({ node, basis: basisOf(node, context) }));
  const [losing, empty] = [all.filter(hasNics), all.filter((one) => !hasNics(one))];
  const named = losing.filter(countsInBudget);
  const budgets = budgetsWith(named, own, cluster, context);
  const isHeld =
    waitsForConsent(object) ||
    recordsOf(latest) === undefined ||
    wasOverBudget(
      storedHoldOf(object),
      named.flatMap(({ node }) => nicsOfDelete(node, cluster.provider)),
    ) ||
    planned.plan.problems.some(isOverBudget);
  const { allowed, held } = decideRemovals(losing, { budgets, isHeld });
  const waiting = held.map(({ removal }) => removal);
  const kept = own.filter(isKept).map((node) => ({ node }));
  const consented = coveredIn([...waiting, ...kept], cluster.provider, context);
  const released = waiting
    .filter(({ node }) => consented.has(node))
    .map(({ node }) => ({ node, basis: 'consent' as const }));
  const going = [...allowed, ...released, ...empty.map(withoutNics)];
  return {
    going: going.map(({ node, basis }): NodeRemoval => ({ node, basis: deleteBasis(basis) })),
    held: waiting.filter(({ node }) => !consented.has(node)),
    budgets,
    consented,
  };
}

export function deleteBasis(basis: RemovalBasis): NodeRemoval['basis'] {
  return basis === 'sideEffect' ? 'named' : basis;
}

function withoutNics({ node, basis }: FormerNode): FormerNode {
  return { node, basis: basis === 'evidence' ? basis : 'named' };
}

function hasNics({ node }: FormerNode): boolean {
  return macsOn(node).length > 0;
}

/** Returns a former business cluster's budgets with the removals by an edit. */
function budgetsWith(
  named: readonly FormerNode[],
  own: readonly ExistingNodeConfig[],
  { provider, others, now }: Cluster,
  context: DeliveredContext,
): PlannedUse[] {
  const { planned, memory } = context;
  const recorded = new Set(removalMemory.of(memory).recordedNics);
  const fresh = named.filter((one) => keysOf(one, provider).some((nic) => !recorded.has(nic)));
  const nics = fresh.flatMap((one) => keysOf(one, provider)).filter((nic) => !recorded.has(nic));
  const there = countNics(own.filter(isThere));
  const object = latestObject(context);
  return budgetsOf({ object, own: there, others, now }).map((budget) => {
    const here = budget.scope === 'configNics' ? planned.plan.summary.interfaces : 0;
    const used = budget.used + (budget.scope === 'clusterNodes' ? fresh.length : nics.length);
    const total = budget.total + here;
    return { ...budget, total, used, allowed: allowedIn({ scope: budget.scope, total }) };
  });
}

/** Returns the nodes covered by the user's consent. */
function coveredIn(
  nodes: readonly Pick<FormerNode, 'node'>[],
  cluster: string,
  { planned }: DeliveredContext,
): ReadonlySet<ExistingNodeConfig> {
  const digests = planned.input.consent?.digests ?? '';
  return coveredNodes(
    digests,
    nodes.map(({ node }) => ({ node, cluster })),
  );
}

/** True if the controller keeps NICs on a node in deletion. */
export function isKept(node: ExistingNodeConfig): boolean {
  return !isThere(node) && isKeptByController(node);
}

/** Returns NIC keys for a node, for recorded but unfinished removals. */
export function keysOf({ node }: Pick<FormerNode, 'node'>, provider: string): string[] {
  const place = `${formerPrefix}${encodeURIComponent(provider)}:${node.uid}`;
  return macsOn(node).map((mac) => `${place} ${mac}`);
}
