import type { Effect } from '../../api/effects.ts';
import type { HeldNode } from '../../api/node-configs-http.ts';
import type { Perform } from '../../process/effects.ts';
import type { UnansweredPosts } from '../deliver/unanswered-posts.ts';
import type { Violas } from '../deliver/violas.ts';
import type { Inventory } from '../inventory.ts';
import { StepFailure, type Trouble } from '../status/step-failure.ts';
import type { Wish } from '../wish.ts';
import { takeBack } from './finish.ts';
import { occupiedBy } from './occupied.ts';

export interface LeavingOthers {
  readonly leaving: readonly HeldNode[];
  /** Business clusters that nodes are in, or may be in. */
  readonly deliveredTo: readonly string[];
  readonly troubles: readonly Trouble[];
}

interface Delivered extends Pick<Wish, 'config' | 'source'> {
  /** As the status of the OpenstackConfig says. */
  readonly deliveredTo: readonly string[] | undefined;
}

interface LeaveOthersDeps {
  readonly inventory: Inventory;
  readonly violas: Violas;
  readonly unanswered: UnansweredPosts;
  readonly perform: Perform<Effect>;
}

/** Takes nodes back that were delivered to another business cluster before the CR named this one. */
export async function leaveOthers(
  { config, source, deliveredTo }: Delivered,
  { inventory, violas, unanswered, perform }: LeaveOthersDeps,
  signal: AbortSignal,
): Promise<LeavingOthers> {
  const leaving: HeldNode[] = [];
  const troubles: Trouble[] = [];
  const { clusters } = await occupiedBy(source, deliveredTo, inventory);
  const occupied = new Set(clusters.keys());
  for (const [provider, known] of clusters) {
    if (provider === config.providerId) continue;
    try {
      // Before anything is read: what comes after that is not seen.
      const isOpen = unanswered.openForMs(source, provider) > 0;
      const viola = await violas.of(config.viola, provider);
      const left = await takeBack({ viola, owner: source, known, perform }, signal);
      if (left.length === 0 && !isOpen) {
        await inventory.record(provider, source, []);
        occupied.delete(provider);
      }
      leaving.push(...left);
    } catch (error) {
      // What was delivered here counts all the same.
      if (!(error instanceof StepFailure)) throw error;
      const message = `nodes in business cluster "${provider}" cannot be removed: ${error.message}`;
      troubles.push({ reason: error.reason, message });
    }
  }
  return { leaving, deliveredTo: [...occupied].toSorted(), troubles };
}
