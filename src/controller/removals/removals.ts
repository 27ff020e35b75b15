import type { Effect } from '../../api/effects.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import type { Perform } from '../../process/effects.ts';
import type { Clock } from '../../time/clock.ts';
import type { Stores } from '../objects/stores.ts';
import { createBudget } from './budget.ts';
import { createCountRemovals } from './count-removals.ts';
import { createGate } from './gate.ts';
import { createRemovalLedger } from './ledger.ts';
import { createRecordRemovals } from './ledger-entry.ts';

interface RemovalsOptions {
  readonly client: KubeClient;
  readonly perform: Perform<Effect>;
  readonly clock: Clock;
  readonly namespace: string;
  readonly stores: Stores;
}

/** Creates the gate for all removals, with its ledger of the last hour and the budgets that follow from it. */
export function createRemovals({ client, perform, clock, namespace, stores }: RemovalsOptions) {
  const ledger = createRemovalLedger({ client, namespace, perform, clock });
  const budget = createBudget({ stores, ledger, clock });
  budget.follow(stores.configs);
  return {
    ledger,
    budget,
    gate: createGate({ client, budget, ledger, namespace, clock }),
    record: createRecordRemovals(ledger, clock),
    count: createCountRemovals(budget, ledger),
  };
}
