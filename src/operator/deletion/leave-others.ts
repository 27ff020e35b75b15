import type { Effect } from '../../api/effects.ts';
import type { HeldNode } from '../../api/node-configs-http.ts';
import type { Perform } from '../../process/effects.ts';
import type { Violas } from '../deliver/violas.ts';
import type { Inventory } from '../inventory.ts';
import { StepFailure, type Trouble } from '../status/step-failure.ts';
import type { Wish } from '../wish.ts';
import { takeBack } from './finish.ts';

export interface LeavingOthers {
  readonly leaving: readonly HeldNode[];
  readonly troubles: readonly Trouble[];
}

interface LeaveOthersDeps {
  readonly inventory: Inventory;
  readonly violas: Violas;
  readonly perform: Perform<Effect>;
}

/** Takes nodes back that were delivered to another business cluster before the CR named this one. */
export async function leaveOthers(
  { config, source }: Pick<Wish, 'config' | 'source'>,
  { inventory, violas, perform }: LeaveOthersDeps,
  signal: AbortSignal,
): Promise<LeavingOthers> {
  const leaving: HeldNode[] = [];
  const troubles: Trouble[] = [];
  for (const [provider, known] of await inventory.nodesOf(source)) {
    if (provider === config.providerId) continue;
    try {
      const viola = violas.of(config.viola, provider);
      const left = await takeBack({ viola, owner: source, known, perform }, signal);
      if (left.length === 0) await inventory.record(provider, source, []);
      leaving.push(...left);
    } catch (error) {
      // What was delivered here counts all the same.
      if (!(error instanceof StepFailure)) throw error;
      const message = `nodes in business cluster "${provider}" cannot be removed: ${error.message}`;
      troubles.push({ reason: error.reason, message });
    }
  }
  return { leaving, troubles };
}
