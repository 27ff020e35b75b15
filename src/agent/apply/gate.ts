import { onlyLink } from '../planning/candidates.ts';
import type { RecordedNic } from '../planning/nic-state.ts';
import type { Change } from '../planning/operation.ts';
import {
  type Check,
  firstRefusal,
  permission,
  type Refusal,
  refusal,
  type TouchedNic,
} from '../planning/refusals.ts';
import type { KernelSnapshot } from '../snapshot.ts';
import type { Context } from './context.ts';
import { changeKernel, type KernelFailure, type KernelOutcome } from './kernel.ts';

/**
 * Returns why the NIC must not be touched: foreign software may use the NIC since planning. An absent NIC may be
 * touched, as only rules are left.
 */
export function whyUntouchable(
  { mac, belongings, rulesOnly }: RecordedNic,
  seen: KernelSnapshot,
  { protectedAddresses }: Context,
  checks: readonly Check<TouchedNic>[] = permission,
): Refusal | undefined {
  if (rulesOnly) return undefined;
  const host = { ...seen, files: [], held: [] };
  const link = onlyLink(host, mac);
  if ('reason' in link) return link.reason === 'WaitingForNIC' ? undefined : link;
  const site = { host, protectedAddresses, records: [], accepted: [] };
  return firstRefusal(checks, { link, owned: belongings }, site);
}

/**
 * Returns why the change's device is not the NIC in `seen`: `ip` finds devices by name, and the name may belong to a
 * foreign link by now. A rules-only change names no device.
 */
function deviceMismatch(
  change: Change,
  { mac }: RecordedNic,
  seen: KernelSnapshot,
): Refusal | undefined {
  const device = deviceOf(change);
  if (device === undefined) return undefined;
  const link = onlyLink(seen, mac);
  if ('reason' in link) return link;
  if (link.name === device) return undefined;
  return refusal('ApplyFailed', `the NIC is now named ${link.name}, no longer ${device}`);
}

/** Returns the link's name before the change. */
function deviceOf({ sysctls, eviction, operations }: Change): string | undefined {
  const steps = [...sysctls, ...(eviction ? [eviction] : []), ...operations];
  return steps.flatMap((step) => ('dev' in step ? [step.dev] : []))[0];
}

/** Key of a change, with the NIC to change. */
interface OfNic {
  readonly nic: RecordedNic;
}

/**
 * Single entry point for a NIC's kernel changes, forward and back. A NIC taken by foreign software, or renamed since
 * planning, stays unchanged and its change fails. `seen` is the latest snapshot behind the change.
 */
export async function changeNics<K extends OfNic>(
  changes: ReadonlyMap<K, Change>,
  seen: KernelSnapshot,
  context: Context,
  maxFailures?: number,
): Promise<KernelOutcome<K>> {
  const refused = new Map<K, KernelFailure>();
  for (const [key, change] of changes) {
    if (isEmpty(change)) continue;
    const problem = whyUntouchable(key.nic, seen, context) ?? deviceMismatch(change, key.nic, seen);
    if (problem) refused.set(key, { ...problem, busy: false });
  }
  const free = new Map([...changes].filter(([key]) => !refused.has(key)));
  const { failures, ...rest } = await changeKernel(free, context, maxFailures);
  return { ...rest, failures: new Map([...refused, ...failures]) };
}

function isEmpty({ sysctls, eviction, operations }: Change): boolean {
  return sysctls.length + operations.length === 0 && !eviction;
}
