import { namedSome } from '../../../api/named-some.ts';
import { countsInBudget, exceededBudget } from '../../../api/removals.ts';
import { overBudget, overText, sideEffect } from '../../../plan/gate.ts';
import type { PlannedUse } from '../../../plan/plan.ts';
import type { StatusProblem } from '../../model/step-failure.ts';
import type { FormerNode } from './former-decision.ts';

const shownNodes = 5;

/** Returns the problems for nodes that stay in a former business cluster until consent. */
export function blockedProblems(
  held: readonly FormerNode[],
  budgets: readonly PlannedUse[],
  { provider, present }: { readonly provider: string; readonly present: string },
): StatusProblem[] {
  const [named, sideEffects] = [
    held.filter(countsInBudget),
    held.filter((one) => !countsInBudget(one)),
  ];
  const toRemove =
    'to remove their NICs now, set the annotation multinic.io/allow-removals to a new value';
  const textOf = (nodes: readonly FormerNode[]) =>
    `the removal of ${namesOf(nodes)} from business cluster "${provider}"`;
  const exceeded = exceededBudget(budgets) as PlannedUse | undefined;
  const why = exceeded
    ? overText(exceeded)
    : 'further removals of this generation wait for consent';
  const messages = [
    ...(named.length > 0
      ? [`${overBudget}${textOf(named)} waits: ${why}; ${toRemove}; to keep them, undo the edit`]
      : []),
    ...(sideEffects.length > 0
      ? [
          `${sideEffect}${textOf(sideEffects)} waits until business cluster "${present}" has Nodes with their instance ids; ${toRemove}; to keep them, set the former cluster in the spec again`,
        ]
      : []),
  ];
  return messages.map((message) => ({ reason: 'RemovalHeld', message }));
}

function namesOf(nodes: readonly FormerNode[]): string {
  const names = nodes.map(({ node }) => node.nodeName);
  return namedSome(names, shownNodes);
}
