import type { RemovalBasis } from '../../../api/removals.ts';
import {
  allowRemovalsOf,
  type ConfigObject,
  reconcileAtOf,
  statusOf,
} from '../../model/openstack-config.ts';
import type { NicsAndNodes } from '../../removals/budgets.ts';
import { consentRefusalOf, type OpenConsent, openConsent } from '../../removals/consent.ts';
import type { WaitingNics } from '../../removals/held-set.ts';
import { deletionCondition } from '../../removals/hold.ts';
import type { SyncResult } from '../result.ts';
import type { Ending } from './conditions.ts';
import type { Handled } from './status.ts';

/** Result from a reconcile; `synced` undefined: no complete sync. */
interface Outcome {
  readonly ending: Ending;
  readonly synced: SyncResult | undefined;
}

/** Returns the annotation values handled by a sync. A completed sync handles reconcile-at. */
export function handledBy(object: ConfigObject, outcome: Outcome, now: Date): Handled {
  const reconcileAt = outcome.synced ? reconcileAtOf(object) : '';
  const consent = consentAfter(object, outcome, now);
  // A consent covers the NICs held before the consent's first sync.
  const isOpen = consent.openAllowRemovals !== undefined && !consentRefusalOf(object, now);
  return {
    ...(reconcileAt === '' ? {} : { reconcileAt }),
    ...consent,
    held: isOpen ? undefined : heldIn(outcome),
  };
}

/** Returns the NICs waiting for consent; undefined: not read. */
function heldIn({ ending, synced }: Outcome): WaitingNics | undefined {
  const isDeletion = ending.kind === 'deleting';
  const nics = isDeletion ? ending.heldNics : synced?.heldNics;
  const isComplete = isDeletion || (synced?.evidenceComplete === true && !synced.isOutage);
  return nics && { nics, isComplete };
}

/**
 * Returns the consent state after a sync. A value without an earlier sync for this generation or deletion releases
 * nothing. Failed removals keep a consent open, at most for an hour.
 */
function consentAfter(object: ConfigObject, outcome: Outcome, now: Date): Handled {
  const value = allowRemovalsOf(object);
  if (value === '' || value === statusOf(object).lastHandledAllowRemovals) return {};
  const isFirstOfDeletion =
    outcome.ending.kind === 'deleting' && deletionCondition(object) === undefined;
  const open = isFirstOfDeletion ? undefined : openConsent(object, now);
  const isRefused = consentRefusalOf(object, now) !== undefined;
  const rest = open && (isRefused ? refusedAfter(open, outcome) : openAfter(open, outcome));
  return rest ? { openAllowRemovals: rest } : { allowRemovals: value };
}

/** Returns a refused consent while removals wait; the status reports the refusal. Undefined: no removal waits. */
function refusedAfter(open: OpenConsent, outcome: Outcome): OpenConsent | undefined {
  return heldIn(outcome)?.nics.length === 0 ? undefined : open;
}

/** Returns the consent for the remaining removals; undefined: used up. */
function openAfter(open: OpenConsent, { ending, synced }: Outcome): OpenConsent | undefined {
  if (ending.kind === 'deleting') return ending.hadConsent ? undefined : open;
  if (!synced) return open;
  const rest = openRemovals(synced);
  if (rest.nics === 0) return undefined;
  const { nics = rest.nics, nodes = rest.nodes } = open;
  return { ...open, nics: Math.min(nics, rest.nics), nodes: Math.min(nodes, rest.nodes) };
}

/** Counts consented removals that failed, or still need a port or server read. */
function openRemovals({ nodes, delivery }: SyncResult): NicsAndNodes {
  const open = new Set([
    // A removal that only a user can do needs a second approval afterwards.
    ...delivery.failures.flatMap(({ nodeName, reason }) =>
      reason === 'RemovalUnsupported' ? [] : nodeName,
    ),
    ...delivery.waiting.filter((nodeName) => !delivery.removed.includes(nodeName)),
  ]);
  const counts = nodes.map(({ nodeName, removals, keptNics = [] }) => {
    const sent = [...removals.confirmed, ...keptNics].filter(isConsented);
    const unread = removals.unconfirmed.filter(isConsented);
    return unread.length + (open.has(nodeName) ? sent.length : 0);
  });
  return {
    nics: counts.reduce((sum, count) => sum + count, 0),
    nodes: counts.filter((count) => count > 0).length,
  };
}

function isConsented({ basis }: { readonly basis: RemovalBasis }): boolean {
  return basis === 'consent';
}
