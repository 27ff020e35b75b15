import { consentsTo, deletionBasis, deletionConsentTime } from '../../api/delete-consent.ts';
import { isConsentOpen, type RemovalConsent, removalConsentOf } from '../../api/removal-consent.ts';
import { consentLifetimeMs, type NicRemoval } from '../../api/removals.ts';
import { recordOf } from '../jobs/applied.ts';
import {
  type Act,
  type AllowedRemoval,
  asRemoval,
  isIfGone,
  standingRemovals,
  triedIfGone,
} from '../jobs/run-basis.ts';
import { allowRemovalsOf, deletedAt, type NodeConfig, ownSpecHash } from '../objects/stores.ts';
import { knownOf } from './known.ts';
import type { LostNic } from './losses.ts';

/** Why NICs would leave: dropped from the spec, deleted object, or a changed node reference. */
export type RemovalCause = 'edit' | 'deletion' | 'otherNode';

/** A NIC about to leave, with its basis. */
export interface Removal extends NicRemoval {
  readonly mac: string;
  /** True: allowed when this content was queued; retries need no new decision. */
  readonly isStanding: boolean;
  /** Time of the consent, in milliseconds since 1970: an hour later the removal is a named act. */
  readonly consentedAt?: number;
}

export interface BasisInput {
  readonly config: NodeConfig;
  readonly lost: readonly LostNic[];
  readonly cause: RemovalCause;
  readonly task: Act;
  readonly now: Date;
}

/** Returns the basis of each lost NIC, from the object's record and annotations. */
export function removalsOf(input: BasisInput): readonly Removal[] {
  const { config, lost, task } = input;
  const standing = new Map(
    standingRemovals(recordOf(config), task).map((removal) => [removal.mac, removal]),
  );
  const present = contradictedMacs(config);
  const given = givenFor(input);
  return lost.map((nic) => {
    const { mac } = nic;
    const stored = standing.get(mac);
    const isContradicted = present.has(mac);
    if (stored && !(isContradicted && isIfGone(stored))) {
      return { mac, isStanding: true, ...asRemoval(stored) };
    }
    const found = basisOf(nic, input.cause, given);
    const counts = found.basis === 'evidence' && isContradicted;
    return { mac, isStanding: false, isContradicted: counts, ...found };
  });
}

/** Returns the removal as the record stores it. */
export function asAllowed({ mac, basis, isContradicted }: Removal): AllowedRemoval {
  if (basis === 'sideEffect') throw new Error(`NIC ${mac}: a side effect is never allowed`);
  return isContradicted ? { mac, basis, counts: true } : { mac, basis };
}

/**
 * Returns MACs with evidence contradicted by the node: an ended run may have removed each NIC without a link, and
 * reported the NIC as present. Any act's run counts, so that the gate and the budget see the same.
 */
function contradictedMacs(config: NodeConfig): ReadonlySet<string> {
  const record = recordOf(config);
  const tried = record && triedIfGone(record);
  const known = knownOf(config);
  if (!tried || known.kind === 'unread') return new Set();
  return new Set(known.nics.map(({ mac }) => mac).filter((mac) => tried.has(mac)));
}

type Basis = Pick<Removal, 'basis' | 'consentedAt'>;

/** What annotations and status say about all removals of an object. */
interface Given {
  /** The user's consent to the held NICs; undefined: none. */
  readonly user: { readonly at: string; readonly macs: readonly string[] } | undefined;
  /** Lists by Viola, for this spec. */
  readonly lists: RemovalConsent | undefined;
  /** Basis of the edit or deletion, for the NICs that it covers. */
  readonly act: Basis;
}

function givenFor({ config, cause, now }: BasisInput): Given {
  const user = userConsentOf(config, now);
  const lists = removalConsentOf(config.metadata, ownSpecHash(config));
  return {
    user: user && { at: user.at, macs: config.status?.heldRemovals?.macs ?? [] },
    lists,
    act: cause === 'deletion' ? deletionAct(config, now) : editAct(config, lists, now),
  };
}

function basisOf({ mac, isOwn }: LostNic, cause: RemovalCause, given: Given): Basis {
  const { user } = given;
  if (user?.macs.includes(mac)) return { basis: 'consent', consentedAt: Date.parse(user.at) };
  if (cause === 'otherNode') return { basis: 'sideEffect' };
  const found = cause === 'deletion' ? deletionBasisOf(mac, given) : editBasisOf(mac, given);
  return found ?? { basis: isOwn ? 'named' : 'sideEffect' };
}

function editBasisOf(mac: string, { lists, act }: Given): Basis | undefined {
  if (lists?.proven.includes(mac)) return { basis: 'evidence' };
  return act.basis === 'consent' && lists?.consented.includes(mac) ? act : undefined;
}

/** Evidence is for the listed NICs only; the remaining NICs leave by the deletion itself. */
function deletionBasisOf(mac: string, { lists, act }: Given): Basis | undefined {
  if (act.basis === 'consent') return act;
  return act.basis === 'evidence' && lists?.proven.includes(mac) ? act : undefined;
}

/** Consent to an edit is none to a deletion, and the reverse. */
function editAct(config: NodeConfig, lists: RemovalConsent | undefined, now: Date): Basis {
  return lists && isOpen(config, lists.at, now)
    ? { basis: 'consent', consentedAt: Date.parse(lists.at) }
    : { basis: 'named' };
}

/** A consent that has ended stays ended, also after the clock was set back: the hold began after the end. */
function isOpen(config: NodeConfig, at: string, now: Date): boolean {
  const since = Date.parse(holdOf(config)?.since ?? '');
  return isConsentOpen(at, now) && !(since > Date.parse(at) + consentLifetimeMs);
}

function deletionAct(config: NodeConfig, now: Date): Basis {
  const deletion = deletedAt(config);
  if (!deletion) return { basis: 'named' };
  const basis = deletionBasis(config.metadata, ownSpecHash(config), deletion, now);
  const consentedAt = basis === 'consent' ? deletionConsentTime(config.metadata) : undefined;
  return consentedAt === undefined ? { basis } : { basis, consentedAt };
}

/** True if a user or Viola confirmed the object's deletion. */
export function hasDeleteConsent(config: NodeConfig, now: Date): boolean {
  const at = deletedAt(config);
  return at !== undefined && consentsTo(config.metadata, at, now);
}

/** Returns the hold of this object and generation: a restored status may have a hold of another. */
export function holdOf({ metadata, status }: NodeConfig) {
  const held = status?.heldRemovals;
  const isOwn = held?.uid === metadata.uid && held?.generation === metadata.generation;
  return isOwn ? held : undefined;
}

/**
 * Returns the user's open consent to the held removals: the annotation `allow-removals` has a new value since the hold.
 * A value counts for one generation only. Undefined: none.
 */
export function userConsentOf(
  config: NodeConfig,
  now: Date,
): { readonly value: string; readonly at: string } | undefined {
  const held = holdOf(config);
  const value = allowRemovalsOf(config);
  if (!held || value === undefined || value === held.allowRemovals) return undefined;
  const at = held.consent?.value === value ? held.consent.at : undefined;
  if (at === undefined) return { value, at: now.toISOString() };
  return isConsentOpen(at, now) ? { value, at } : undefined;
}

/** Returns the user's consent that ended before an agent run was queued; undefined: none. */
export function endedConsentOf(config: NodeConfig, now: Date) {
  const consent = holdOf(config)?.consent;
  const isPresent = consent !== undefined && consent.value === allowRemovalsOf(config);
  return isPresent && userConsentOf(config, now) === undefined ? consent : undefined;
}
