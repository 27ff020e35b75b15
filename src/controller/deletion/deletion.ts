import type { KubeClient } from '../../kube/client/client.ts';
import type { Node } from '../../kube/core-resources.ts';
import type { Outcome } from '../../kube/reconcile/controller.ts';
import type { Clock } from '../../time/clock.ts';
import { prohibitionOf } from '../jobs/permission.ts';
import { acceptEntries } from '../jobs/request.ts';
import { isReady } from '../objects/machine.ts';
import type { Stores } from '../objects/stores.ts';
import { successorOf } from '../records/meaning.ts';
import type { NodeRecords } from '../records/node-records.ts';
import { staysFor } from '../removals/losses.ts';
import type { Report } from '../status/report.ts';
import { findTarget } from '../target.ts';
import { type Clean, type CleanOptions, createClean } from './clean.ts';
import { mayLeaveAsIs } from './foreign-node.ts';
import { createFindFormerNode } from './former-node.ts';
import { createLeaveFormerNode, type LeaveFormerNode } from './leave-former-node.ts';
import { createReleaseWithoutNode, isMachineGone } from './missing-node.ts';
import { createIsNodeGone } from './node-gone.ts';
import { createRelease, type Release, type ReleaseOptions } from './release.ts';

interface DeletionOptions extends CleanOptions, ReleaseOptions {
  readonly client: Pick<KubeClient, 'find' | 'listAll'>;
  readonly stores: Stores;
  readonly records: NodeRecords;
  readonly clock: Pick<Clock, 'now'>;
}

/** Clean-up of nodes that an object leaves. */
export interface Deletion {
  readonly leaveFormerNode: LeaveFormerNode;
  /** Takes the next step for a deleted object: cleans its nodes, then removes the finalizer. */
  finish(report: Report, signal: AbortSignal): Promise<Outcome | void>;
}

export function createDeletion(options: DeletionOptions): Deletion {
  const { client, stores, refuse, random, clock } = options;
  const clean = createClean(options);
  const release = createRelease(options);
  const findFormerNode = createFindFormerNode(client, stores);
  const leaveFormerNode = createLeaveFormerNode({ findFormerNode, clean, random });
  const nodes = stores.nodeDirectory;
  const isNodeGone = createIsNodeGone(client);
  const releaseWithoutNode = createReleaseWithoutNode({
    nodes,
    isNodeGone,
    refuse,
    release,
    clock,
  });
  const cleanAndRelease = createCleanAndRelease({ ...options, clean, release });

  return {
    leaveFormerNode,
    async finish(report, signal) {
      if (prohibitionOf(report.config, 'cleanup')) return release(report, signal);
      const target = findTarget(report.config, nodes);
      report.about(acceptEntries([]), target.kind === 'node' ? target.name : undefined);
      const here = target.kind === 'node' ? target.node : undefined;
      const left = await leaveFormerNode(report, here, 'deletion', signal);
      if (left) return left;
      return target.kind === 'none'
        ? releaseWithoutNode(report, target, signal)
        : cleanAndRelease(target.node, report, signal);
    },
  };
}

interface CleanAndReleaseOptions extends Pick<DeletionOptions, 'stores' | 'records' | 'clock'> {
  readonly clean: Clean;
  readonly release: Release;
}

/** Removes the finalizer when the node is clean, or when a different object took the node over. */
function createCleanAndRelease(options: CleanAndReleaseOptions) {
  const { stores, records, clock, clean, release } = options;
  return async (node: Node, report: Report, signal: AbortSignal): Promise<Outcome | void> => {
    const { config } = report;
    const successor = successorOf(config, node, stores);
    const contents = staysFor(successor, config);
    if (mayLeaveAsIs(config, node, { successor, contents }, records))
      return release(report, signal);
    // A user confirmed the machine's deletion while the Node object still exists.
    if (isReady(node) === false && isMachineGone(config, clock.now())) {
      const { name } = node.metadata;
      const leftovers = `the server of node ${name} is gone; NICs may remain on the machine`;
      return release(report, signal, leftovers);
    }
    const outcome = await clean({ report, node, contents, cause: 'deletion' }, signal);
    return outcome === 'clean' ? release(report, signal) : outcome;
  };
}
