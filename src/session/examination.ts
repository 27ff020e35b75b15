import { missingOf, type UnreadSource } from '../explain/conclusion.ts';
import { examine } from '../explain/examine.ts';
import { type Explanation, explainPort } from '../explain/explain-port.ts';
import type { Fact } from '../explain/fact.ts';
import type { PortFacts, SystemFacts } from '../explain/facts.ts';
import type { SectionReport } from '../explain/finding.ts';
import { unreadIn } from '../explain/findings.ts';
import type { Step } from '../explain/step.ts';
import type { AccessOptions } from './access/options.ts';
import type { Session } from './access/session.ts';
import { type InventoryState, readInventoryState } from './facts/inventory-state.ts';
import { readSystem } from './facts/system-facts.ts';
import { inContext, inContextOf, sourcesInContext } from './in-context.ts';

/** Examination of the whole system; next steps have the user's access options. */
export interface Examination {
  readonly facts: SystemFacts;
  readonly inventory: Fact<InventoryState>;
  readonly sections: readonly SectionReport[];
  /** Required sources without an answer. */
  readonly unread: readonly UnreadSource[];
  /** Start (RFC 3339). */
  readonly at: string;
  readonly seconds: number;
}

/** Reads and examines the system. Throws Failure: an unknown business cluster was chosen. */
export async function readExamination(session: Session, namespace?: string): Promise<Examination> {
  const { options, clock } = session;
  const [started, at] = [clock.monotonicMs(), session.now().toISOString()];
  const [facts, inventory] = await Promise.all([
    readSystem(session, namespace),
    readInventoryState(session),
  ]);
  const sections = inContextOf(examine(facts), options);
  const unread = sourcesInContext(unreadIn(sections, missingOf(inventory)), options);
  const seconds = (clock.monotonicMs() - started) / 1_000;
  return { facts, inventory, sections, unread, at, seconds };
}

/** Explains a port; next steps have the user's access options. */
export function explanationInContext(facts: PortFacts, options: AccessOptions): Explanation {
  const explanation = explainPort(facts);
  const node = facts.node.state === 'read' ? facts.node.value : undefined;
  const complete = (step: Step) => ({
    ...step,
    next: inContext(step.next, options, node?.providerId),
  });
  const { answer } = explanation;
  return {
    ...explanation,
    steps: explanation.steps.map(complete),
    answer: answer && complete(answer),
  };
}
