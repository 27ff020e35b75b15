import { rfc3339 } from '../../api/condition.ts';
import type { NodeConfigStatus } from '../../api/multinicnodeconfig.ts';
import type { HoldCode } from '../../api/removals.ts';
import { recordOf } from '../jobs/applied.ts';
import type { AcceptedSpec } from '../jobs/request.ts';
import type { RunOutcome } from '../jobs/runner.ts';
import { allowRemovalsOf, type NodeConfig } from '../objects/stores.ts';
import { endedConsentOf, holdOf } from './bases.ts';

type HeldRemovals = NodeConfigStatus['heldRemovals'];

/**
 * Returns the new `status.heldRemovals`. Keeps time and annotation value from an earlier hold in the same generation: a
 * value present then is no consent.
 */
export function holdAfterDecision(
  config: NodeConfig,
  { code, macs }: { readonly code: HoldCode; readonly macs: readonly string[] },
  now: Date,
): HeldRemovals {
  const { uid = '', generation = 0 } = config.metadata;
  const held = holdOf(config);
  // Time and annotation value of an earlier hold are for its NICs only.
  const same = macs.every((mac) => held?.macs?.includes(mac)) ? held : undefined;
  return {
    uid,
    generation,
    code,
    macs: [...macs].slice(0, 20),
    since: same?.since ?? rfc3339(now),
    ...consentBefore(config, same, now),
  };
}

/** An ended consent stays for the message until a new value comes; an open one stays open. */
function consentBefore(config: NodeConfig, same: HeldRemovals, now: Date) {
  const value = allowRemovalsOf(config);
  const consent = same?.consent?.value === value ? same?.consent : undefined;
  const isOver = consent !== undefined && endedConsentOf(config, now) !== undefined;
  const before = same && !isOver ? same.allowRemovals : value;
  return {
    ...(before === undefined ? {} : { allowRemovals: before }),
    ...(consent ? { consent } : {}),
  };
}

/**
 * Returns the hold of a run that kept NICs without a decision about them: the node's NICs were not known before. From
 * then on a new value of `allow-removals` is consent. Undefined: no such NIC.
 */
export function holdByAgent(
  config: NodeConfig,
  outcome: RunOutcome | undefined,
  { entries = [] }: Pick<AcceptedSpec, 'entries'>,
  now: Date,
): { readonly message: string; readonly status: HeldRemovals } | undefined {
  if (outcome?.kind !== 'result') return undefined;
  const named = new Set(recordOf(config)?.basis?.removals.map(({ mac }) => mac));
  const listed = new Set(entries.map(({ mac }) => mac));
  const macs = outcome.result.nics
    .filter(({ state }) => state === 'Held')
    .map(({ mac }) => mac.toLowerCase())
    .filter((mac) => !named.has(mac) && !listed.has(mac))
    .toSorted();
  if (macs.length === 0) return undefined;
  const [nics, them] = macs.length === 1 ? ['NIC', 'it'] : ['NICs', 'them'];
  const message = `NotKnownYet: ${nics} ${macs.join(', ')} would be removed, and no agent had reported ${them} for this object; the controller decides again, and you need not act`;
  return { message, status: holdAfterDecision(config, { code: 'NotKnownYet', macs }, now) };
}
