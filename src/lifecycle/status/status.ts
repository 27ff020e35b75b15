import { shortMessage } from '../../api/condition.ts';
import type { MultiNicOperatorStatus } from '../../api/multinicoperator.ts';
import type { Accepted } from '../model/accepted.ts';
import type { OperatorObject } from '../model/multinicoperator.ts';
import type { Outcomes } from '../model/outcome.ts';
import { countsOf, withLastUpdated } from './change.ts';
import { componentsOf, controllerStatusOf, databaseStatusOf, notReady } from './components.ts';
import { conditionsOf } from './conditions.ts';
import { findingsOf } from './findings.ts';
import { summaryOf } from './summary.ts';

export interface StatusInput {
  readonly operator: OperatorObject;
  readonly before: MultiNicOperatorStatus;
  readonly accepted: Accepted;
  readonly outcomes: Outcomes;
  /** True if this process's webhook answers its self-call. */
  readonly webhookAnswers: boolean;
  readonly now: Date;
}

/** Returns a MultiNicOperator's status; equal to the previous status if nothing changed. */
export function statusAfter(input: StatusInput): MultiNicOperatorStatus {
  const { operator, before, accepted, outcomes, webhookAnswers, now } = input;
  const { generation = 0 } = operator.metadata;
  const active = outcomes.protection.plan.report.configured && webhookAnswers;
  const findings = findingsOf(outcomes, accepted);
  const components = componentsOf(outcomes, accepted, active);
  const summary = summaryOf(findings, components);
  const waiting = new Set(notReady(components).map(({ name }) => name));
  const isReady = { controller: !waiting.has('controller'), database: !waiting.has('database') };
  const status = {
    observedGeneration: generation,
    phase: summary.phase,
    message: shortMessage(summary.message),
    conditions: conditionsOf(findings, summary, isReady, before.conditions ?? [], {
      now,
      generation,
    }),
    controllerStatus: controllerStatusOf(outcomes),
    databaseStatus: databaseStatusOf(outcomes, before.databaseStatus),
    protectionStatus: { active, preventedMutations: 0, ...countsOf(before) },
  };
  return withLastUpdated(before, status, now);
}
