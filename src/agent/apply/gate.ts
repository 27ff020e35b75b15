import { onlyLink } from '../planning/candidates.ts';
import type { RecordedNic } from '../planning/nic-state.ts';
import type { Change } from '../planning/operation.ts';
import {
  type Check,
  firstRefusal,
  inUse,
  type Refusal,
  refusal,
  type TouchedNic,
  untouchable,
} from '../planning/refusals.ts';
import type { KernelSnapshot } from '../snapshot.ts';
import type { Context } from './context.ts';
import { changeKernel, type KernelFailure, type KernelOutcome } from './kernel.ts';

/** What a plan refuses to change. */
const unchangeable = [...untouchable, ...inUse];

/**
 * Why the NIC must not be touched: other software may have come to use it since the plan was made. A NIC that is not on the host
 * may be touched: only its rules are left.
 */
export function whyUntouchable(
  { mac, belongings, rulesOnly }: RecordedNic,
  seen: KernelSnapshot,
  { protectedAddresses }: Context,
  checks: readonly Check<TouchedNic>[] = unchangeable,
): Refusal | undefined {
  if (rulesOnly) return undefined;
  const host = { ...seen, files: [], held: [] };
  const link = onlyLink(host, mac);
  if ('reason' in link) return link.reason === 'WaitingForNIC' ? undefined : link;
  const site = { host, protectedAddresses, records: [], accepted: [] };
  return firstRefusal(checks, { link, owned: belongings }, site);
}

/**
 * Why the device that the change names is not the NIC, as far as `seen` shows the host: `ip` finds a device by its name, and the
 * name may have passed to a foreign link since the change was planned. A change of rules alone names no device.
 */
function strayed(change: Change, { mac }: RecordedNic, seen: KernelSnapshot): Refusal | undefined {
  const device = deviceOf(change);
  if (device === undefined) return undefined;
  const link = onlyLink(seen, mac);
  if ('reason' in link) return link;
  if (link.name === device) return undefined;
  return refusal('ApplyFailed', `the NIC's name is ${link.name} by now, not ${device}`);
}

/** Returns the name that the link has before the change. */
function deviceOf({ sysctls, eviction, operations }: Change): string | undefined {
  const steps = [...sysctls, ...(eviction ? [eviction] : []), ...operations];
  return steps.flatMap((step) => ('dev' in step ? [step.dev] : []))[0];
}

/** What a change is made for. */
interface OfNic {
  readonly nic: RecordedNic;
}

/**
 * The only way of a NIC's change to the kernel, forward and back: a NIC that was taken, as far as `seen` shows the host, or that
 * has not the name any more that the change calls it by, is left as it is, and its change fails. `seen` is the latest snapshot that the change was made from.
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
    const problem = whyUntouchable(key.nic, seen, context) ?? strayed(change, key.nic, seen);
    if (problem) refused.set(key, { ...problem, busy: false });
  }
  const free = new Map([...changes].filter(([key]) => !refused.has(key)));
  const { failures, ...rest } = await changeKernel(free, context, maxFailures);
  return { ...rest, failures: new Map([...refused, ...failures]) };
}

function isEmpty({ sysctls, eviction, operations }: Change): boolean {
  return sysctls.length + operations.length === 0 && !eviction;
}
