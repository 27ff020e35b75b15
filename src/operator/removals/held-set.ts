import { rfc3339 } from '../../api/condition.ts';
import {
  coveredNics,
  digestsOf,
  isWithin,
  mergedDigests,
  type StoredHold,
  type WaitingNic,
} from '../../api/held-nics.ts';
import type { ExistingNodeConfig } from '../../api/node-configs-http.ts';
import type { OpenstackConfigStatus } from '../../api/openstackconfig.ts';
import { isKeptByController, keptMacs } from '../../plan/kept-nics.ts';
import { type ConfigObject, generationOf, statusOf } from '../model/openstack-config.ts';
import { reportedMacs } from './nics-on.ts';

/** NICs waiting for consent after a reconcile. */
export interface WaitingNics {
  readonly nics: readonly WaitingNic[];
  /** False: some data was not read, and NICs held before may still wait. */
  readonly isComplete: boolean;
}

type HeldRemovals = OpenstackConfigStatus['heldRemovals'];

/** Returns the NICs held by earlier reconciles in this generation. */
export function storedHoldOf(object: ConfigObject): StoredHold {
  return holdIn(statusOf(object).heldRemovals, generationOf(object));
}

function holdIn(held: HeldRemovals, generation: number): StoredHold {
  if (held?.generation !== generation) return { digests: '', isOverBudget: false };
  return { digests: held.digests ?? '', isOverBudget: held.overBudget === true };
}

/** Returns the held NICs for the status; undefined: none. The time stays while no further NIC is held. */
export function waitingAfter(
  before: HeldRemovals,
  { nics, isComplete }: WaitingNics,
  { generation, now }: { readonly generation: number; readonly now: Date },
): HeldRemovals {
  const stored = holdIn(before, generation);
  const found = digestsOf(nics);
  const digests = isComplete ? found : mergedDigests(stored.digests, found);
  if (digests === '') return undefined;
  const at = stored.digests !== '' && isWithin(digests, stored.digests) ? before?.at : undefined;
  const isOverBudget = nics.some((nic) => nic.isOverBudget) || (!isComplete && stored.isOverBudget);
  return {
    generation,
    at: at ?? rfc3339(now),
    digests,
    ...(isOverBudget ? { overBudget: true } : {}),
  };
}

/**
 * Returns the NICs removed by this object's DELETE: all NICs on the node, or the NICs kept by the controller after an
 * earlier DELETE.
 */
export function nicsOfDelete(node: ExistingNodeConfig, cluster: string): WaitingNic[] {
  const isKept = isKeptByController(node);
  const kept = isKept ? keptMacs(node) : [];
  const isFirst = node.deletionTimestamp === undefined;
  const macs = new Set([...kept, ...(isFirst ? reportedMacs(node) : [])]);
  // Without names a consent covers the node only if the hold had no names either.
  if (macs.size === 0 || (isKept && kept.length === 0)) macs.add('');
  return [...macs].map((macAddress) => ({ cluster, subject: node.uid, macAddress }));
}

/** Returns the nodes with NICs that are all covered by the stored digests. */
export function coveredNodes(
  digests: string,
  nodes: readonly { readonly node: ExistingNodeConfig; readonly cluster: string }[],
): ReadonlySet<ExistingNodeConfig> {
  const nics = nodes.flatMap(({ node, cluster }) =>
    nicsOfDelete(node, cluster).map((nic) => ({ ...nic, node })),
  );
  const covered = coveredNics(digests, nics);
  const partial = new Set(nics.filter((nic) => !covered.has(nic)).map(({ node }) => node));
  return new Set(nodes.flatMap(({ node }) => (partial.has(node) ? [] : node)));
}
