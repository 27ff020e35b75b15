import { describe, expect, it } from 'vitest';
import type { Action } from '../../../src/kube/rights.ts';
import { deletedByHand, lifeOfAPort } from '../../fixtures/chain/life.ts';
import { openWorld, type Worker } from '../../fixtures/chain/world.ts';
import { chainParts, type PartName } from '../../rbac/claims.ts';
import { clusterOf, isFor, takeAway, untilRefused, usualRightsOf } from './one-right-less.ts';

describe.each(chainParts)('%s', (part: PartName) => {
  it.each(usualRightsOf(part))(
    'comes to need: %s, and goes on when it is given back',
    async (name, action) => {
      const stop = new AbortController();
      let refused: Promise<Action> | undefined;
      let world: Awaited<ReturnType<typeof openWorld>> | undefined;
      try {
        world = await openWorld(['rights-1'], {
          managedAccess: true,
          // A client that starts with an access review would know about the missing right.
          env: { SELF_CHECK: 'false' },
          prepared: async (clusters) => {
            const cluster = clusterOf(part, clusters);
            const giveBack = await takeAway(cluster.client, part, action);
            refused = untilRefused(cluster, part, stop.signal).then(async (what) => {
              await giveBack();
              return what;
            });
            // Checked at the end of the lifetime; skipped after a failure.
            refused.catch(() => {});
          },
        });
        const [worker] = world.workers as [Worker];
        await lifeOfAPort(world, worker, isOfGuard(action) ? deletedByHand : undefined);
        stop.abort(new Error(`nobody was refused: ${name}`));
        expect(await refused).toSatisfy((what: Action) => isFor(action, what));
      } finally {
        stop.abort(new Error('the test is over'));
        await world?.[Symbol.asyncDispose]();
      }
    },
  );
});

/** Only a deletion without consent makes the controller read the kind's objects. */
function isOfGuard({ resource }: Action): boolean {
  return resource === 'customresourcedefinitions';
}
