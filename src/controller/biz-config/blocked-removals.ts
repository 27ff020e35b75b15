import { findCondition } from '../../api/condition.ts';
import { deletionBasis } from '../../api/delete-consent.ts';
import { knownNics } from '../../api/known-nics.ts';
import type { Reason } from '../../api/reasons.ts';
import { removalConsentOf } from '../../api/removal-consent.ts';
import type { NodeConfig } from '../objects/stores.ts';

/** True if the controller holds removals by the object's current generation. */
export function isBlocked({ metadata, status }: NodeConfig): boolean {
  const ready = findCondition(status?.conditions, 'Ready');
  const reason: Reason = 'RemovalHeld';
  return ready?.reason === reason && ready.observedGeneration === metadata.generation;
}

interface Entry {
  readonly macAddress?: unknown;
}

/** Returns MACs in lower case; entries without a readable MAC are left out. */
function macsIn(entries: readonly unknown[]): string[] {
  return entries.flatMap((entry) => {
    const mac = (entry as Entry | null)?.macAddress;
    return typeof mac === 'string' ? [mac.trim().toLowerCase()] : [];
  });
}

/**
 * Returns the MACs leaving a node with this spec: NICs in the object's spec and NICs held by the controller.
 */
export function leavingMacs(config: NodeConfig, interfaces: readonly unknown[]): string[] {
  const stay = new Set(macsIn(interfaces));
  const had = [...macsIn(config.spec?.interfaces ?? []), ...heldMacs(config)];
  return [...new Set(had)].filter((mac) => !stay.has(mac)).toSorted();
}

/** True if a NIC in the object's spec is missing in the new spec. */
export function losesNics({ spec }: NodeConfig, interfaces: readonly unknown[]): boolean {
  const stay = new Set(macsIn(interfaces));
  return macsIn(spec?.interfaces ?? []).some((mac) => !stay.has(mac));
}

function heldMacs(config: NodeConfig): readonly string[] {
  if (!isBlocked(config)) return [];
  const { metadata, status } = config;
  const { heldRemovals } = status ?? {};
  if (heldRemovals?.macs) return heldRemovals.macs.map((mac) => mac.toLowerCase());
  const known = knownNics(metadata, status);
  return known.kind === 'read' ? known.nics.map(({ mac }) => mac) : [];
}

/** True if the controller held these removals after the consent, hence for different NICs. */
export function isNewHold({ status }: NodeConfig, consentAt: string | undefined): boolean {
  const since = Date.parse(status?.heldRemovals?.since ?? '');
  return since > Date.parse(consentAt ?? '');
}

/** The same for NICs without an edit in the source; the source deletes objects after the consent. */
export function isNewSideEffect(config: NodeConfig, consentAt: string): boolean {
  const { code } = config.status?.heldRemovals ?? {};
  return code !== 'OverBudget' && code !== 'NotCounted' && isNewHold(config, consentAt);
}

/** True if the object carries the consent of this time for these NICs and this spec. */
export function hasEditConsent(
  { metadata }: NodeConfig,
  spec: string | undefined,
  { at, macs }: { readonly at: string | undefined; readonly macs: readonly string[] },
): boolean {
  const consent = removalConsentOf(metadata, spec);
  return (
    consent !== undefined &&
    consent.at === at &&
    macs.every((mac) => consent.consented.includes(mac))
  );
}

/** Returns the deletion time; undefined: the object is not being deleted. */
export function deletionTime({ metadata }: Pick<NodeConfig, 'metadata'>): Date | undefined {
  const { deletionTimestamp } = metadata;
  return deletionTimestamp === undefined ? undefined : new Date(deletionTimestamp);
}

/** True if the object carries consent to its deletion now. */
export function hasUserDeleteConsent(
  { metadata }: Pick<NodeConfig, 'metadata'>,
  now: Date,
): boolean {
  return deletionBasis(metadata, undefined, deletionTime({ metadata }) ?? now, now) === 'consent';
}
