import { counted } from '../../../api/counted.ts';
import { wasOverBudget } from '../../../api/held-nics.ts';
import { allowedIn, exceededBudget, settleMs } from '../../../api/removals.ts';
import type { Store as ObjectStore } from '../../../kube/cache/store.ts';
import type { KubeClient } from '../../../kube/client/client.ts';
import { overBudget, overText, sideEffect } from '../../../plan/gate.ts';
import type { PlannedUse } from '../../../plan/plan.ts';
import type { Clock } from '../../../time/clock.ts';
import type { ConfigMemories } from '../../model/memory/config-memory.ts';
import {
  type ConfigObject,
  deletionPolicyOf,
  generationOf,
  hasFinalizer,
  isRetained,
  statusOf,
} from '../../model/openstack-config.ts';
import type { OperatorSettings } from '../../model/settings/operator.ts';
import { StepFailure } from '../../model/step-failure.ts';
import { budgetsOf, deliveredBy, type NicsAndNodes, othersIn } from '../../removals/budgets.ts';
import { consentOf } from '../../removals/consent.ts';
import { storedHoldOf } from '../../removals/held-set.ts';
import { deletionCondition, isOperatorHold, isOverBudget } from '../../removals/hold.ts';
import { recordsOf, sumOf } from '../../removals/records.ts';
import { endingOwner } from './ending-owner.ts';
import { nextSteps, stays } from './next-steps.ts';
import { undecidedSuccessor } from './successors.ts';
import { countOf, nicsOn, type OwnNode } from './withdrawal.ts';

export interface DeletionGuard {
  /**
   * Returns the milliseconds until a deleted object's nodes may be read; 0: no wait. Throws StepFailure when
   * a user must approve the removal (`RemovalHeld`), or when the operator may not read namespace or CRD.
   */
  waitMs(object: ConfigObject, signal: AbortSignal): Promise<number>;
  /**
   * Returns the hold by the budgets, or by an earlier reconcile, for nodes that the deletion removes without consent;
   * undefined: none.
   */
  checkBudgets(object: ConfigObject, nodes: readonly OwnNode[]): StepFailure | undefined;
}

/** Milliseconds after a deletion: an undecided possible successor then requires consent. */
const mostSuccessorWaitMs = 300_000;

interface DeletionGuardDeps {
  readonly client: Pick<KubeClient, 'find'>;
  readonly configs: Pick<ObjectStore<ConfigObject>, 'list'>;
  readonly memories: Pick<ConfigMemories, 'find'>;
  readonly settings: Pick<OperatorSettings, 'defaultK8sProviderId' | 'deletionDelay'>;
  /** Name of the CRD; undefined: the operator may not read CRDs. */
  readonly definition: string | undefined;
  readonly clock: Clock;
}

/**
 * Guards deletions. The NICs from all OpenstackConfigs in deletion count in the budgets; a deleted namespace or CRD needs
 * consent at any number. The status stores a blocked deletion.
 */
export function createDeletionGuard({
  client,
  configs,
  memories,
  settings,
  definition,
  clock,
}: DeletionGuardDeps): DeletionGuard {
  /** Monotonic times at which this process observed deletions, by uid. */
  const observed = new Map<string, number>();

  async function waitMs(object: ConfigObject, signal: AbortSignal): Promise<number> {
    if (isRetained(object)) return 0;
    const since = observe(object);
    if (isReleased(object)) return 0;
    const before = earlierHold(object);
    if (before !== undefined) throw held(before);
    const why = await endingOwner(object, { client, definition }, signal);
    if (why !== undefined) throw held(`${sideEffect}${why}; ${nextSteps(object)}`);
    const isCounted = configs.list().length > 1 && deletionPolicyOf(object) === 'Ask';
    const delayMs = Math.max(settings.deletionDelay, isCounted ? settleMs : 0);
    const leftMs = since + delayMs - clock.monotonicMs();
    return leftMs > 0 ? leftMs : waitForSuccessorMs(object, since);
  }

  /** Returns the milliseconds until an undecided possible successor holds the deletion; 0: none. Throws the hold. */
  function waitForSuccessorMs(object: ConfigObject, since: number): number {
    if (settings.deletionDelay === 0) return 0;
    const successor = undecidedSuccessor(object, since, { configs, memories, settings });
    if (successor === undefined) return 0;
    const leftMs = since + mostSuccessorWaitMs - clock.monotonicMs();
    if (leftMs > 0) return leftMs;
    const why = `OpenstackConfig ${successor} may select the same servers, and no sync of it has succeeded since the deletion; correct it, or sync it where triggers are not immediate`;
    throw held(`${sideEffect}${why}; ${nextSteps(object)}`);
  }

  /** Returns when this process observed the object's deletion. */
  function observe({ metadata: { uid = '' } }: ConfigObject): number {
    const uids = new Set(configs.list().map(({ metadata }) => metadata.uid));
    for (const known of observed.keys()) if (!uids.has(known)) observed.delete(known);
    const since = observed.get(uid) ?? clock.monotonicMs();
    observed.set(uid, since);
    return since;
  }

  function checkBudgets(object: ConfigObject, nodes: readonly OwnNode[]): StepFailure | undefined {
    const isAsked = deletionPolicyOf(object) === 'Ask' && !isReleased(object);
    const own = countOf(nodes);
    if (!isAsked || own.nics === 0) return undefined;
    const why = whyHeld(object, nodes, own);
    return why === undefined ? undefined : held(`${overBudget}${why}; ${nextSteps(object)}`);
  }

  function whyHeld(
    object: ConfigObject,
    nodes: readonly OwnNode[],
    own: NicsAndNodes,
  ): string | undefined {
    if (wasOverBudget(storedHoldOf(object), nicsOn(nodes))) {
      return `${counted(own.nics, 'NIC')} would be removed, and an earlier reconcile held removals above the budget`;
    }
    if (recordsOf(object) === undefined) {
      return 'status.removals cannot be read, so the removals of the last hour are unknown';
    }
    const budgets = [...Map.groupBy(nodes, ({ cluster }) => cluster)].flatMap(([cluster, there]) =>
      budgetsIn(cluster, countOf(there), own, object),
    );
    const exceeded = exceededBudget(budgets) as PlannedUse | undefined;
    return exceeded && overText(exceeded);
  }

  /** Returns the budgets with the NICs from this and all waiting deletions. */
  function budgetsIn(
    provider: string,
    there: NicsAndNodes,
    own: NicsAndNodes,
    object: ConfigObject,
  ): PlannedUse[] {
    const now = clock.now();
    const others = othersIn(provider, object, configs.list(), settings);
    const waiting = others.filter((other) => isWaiting(other, now)).map(deliveredBy);
    const inCluster = sumOf([there, ...waiting]);
    return budgetsOf({ object, own: there, others, now }).map((budget) => {
      const total =
        budget.scope === 'configNics' ? budget.total - there.nics + own.nics : budget.total;
      const more = {
        clusterNodes: inCluster.nodes,
        clusterNics: inCluster.nics,
        configNics: own.nics,
      };
      const used = budget.used + more[budget.scope];
      return { ...budget, total, used, allowed: allowedIn({ scope: budget.scope, total }) };
    });
  }

  return { waitMs, checkBudgets };
}

/** Returns the message of an earlier hold; undefined: none, or deletionPolicy Delete lifts the hold. */
function earlierHold(object: ConfigObject): string | undefined {
  const ready = deletionCondition(object);
  if (!ready || !isOperatorHold(ready)) return undefined;
  const isLifted = deletionPolicyOf(object) === 'Delete' && isOverBudget(ready);
  if (isLifted) return undefined;
  // The remaining text is about leaving nodes, or an earlier consent.
  const [cause] = (ready.message ?? '').split(stays);
  return `${cause}; ${nextSteps(object)}`;
}

/** Returns the consent given since the operator reported the deletion; an earlier consent is for an edit. */
export function deletionConsent(object: ConfigObject, now: Date) {
  return deletionCondition(object) && consentOf(object, now);
}

/**
 * Returns whether the removal was released: stopping half-way would leave some nodes without their NICs. The status
 * stores the deletion's uid before the first removal.
 */
export function isReleased(object: ConfigObject): boolean {
  const { uid, generation = 0 } = statusOf(object).withdrawal ?? {};
  const isRecorded = uid === object.metadata.uid && generation <= generationOf(object);
  return isRecorded || deletionCondition(object)?.reason === 'Deleting';
}

/** Returns whether an OpenstackConfig is in deletion, and its NICs still count in the budget. */
function isWaiting(object: ConfigObject, now: Date): boolean {
  return (
    object.metadata.deletionTimestamp !== undefined &&
    hasFinalizer(object) &&
    !isRetained(object) &&
    deletionPolicyOf(object) === 'Ask' &&
    !isReleased(object) &&
    deletionConsent(object, now) === undefined
  );
}

/** A missing namespace or CRD was deleted by force, so removing its NICs still needs approval. */
function held(message: string): StepFailure {
  return new StepFailure({ reason: 'RemovalHeld', message });
}
