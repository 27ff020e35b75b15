import type { NicResult } from '../api/job.ts';
import type { Link } from './snapshot.ts';

/**
 * Returns the results with the carrier of each configured NIC. A link that this run has just set up may get its carrier
 * later, hence `false` needs a link that was up at the start.
 */
export function withCarrier(
  nics: readonly NicResult[],
  { before, after }: { readonly before: readonly Link[]; readonly after: readonly Link[] },
): NicResult[] {
  const links = new Map(after.map((link) => [link.name, link]));
  const wasUp = new Set(before.filter(({ up }) => up).map(({ index }) => index));
  return nics.map((nic) => {
    const link = nic.state === 'Removed' ? undefined : links.get(nic.name);
    const carrier = link && carrierOf(link, wasUp.has(link.index));
    return carrier === undefined ? nic : { ...nic, carrier };
  });
}

/** The kernel shows no carrier of a link that is down. */
function carrierOf({ up, noCarrier }: Link, wasUp: boolean): boolean | undefined {
  if (!up) return undefined;
  if (!noCarrier) return true;
  return wasUp ? false : undefined;
}
