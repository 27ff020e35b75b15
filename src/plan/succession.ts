import type { InterfacePlan } from './interfaces.ts';
import type { Problem } from './plan.ts';
import type { ExistingObject, View } from './view.ts';

/**
 * Returns the plan that takes the object over unchanged: the next sync brings differences, under the rules for own
 * nodes. Returns a problem if the selection lacks the subnet of a NIC, or NICs would leave without evidence.
 */
export function succeed(
  existing: ExistingObject,
  plan: InterfacePlan,
  { rank }: Pick<View, 'rank'>,
): { readonly plan: InterfacePlan } | { readonly problem: Problem } {
  const { interfaces = [] } = existing.spec;
  const unproven = plan.confirmed.filter(({ basis }) => basis !== 'evidence');
  const dropped = interfaces.filter(({ subnetId }) => subnetId && !rank.has(subnetId));
  const leaving = new Set([...unproven, ...dropped].map(({ name }) => name ?? ''));
  if (leaving.size > 0) return { problem: otherNics(existing, [...leaving]) };
  return { plan: { ...plan, interfaces, confirmed: [], unconfirmed: [], ask: [] } };
}

function otherNics({ nodeName, source }: ExistingObject, leaving: readonly string[]): Problem {
  const former = `${source?.namespace}/${source?.name}`;
  const message = `node ${nodeName} was delivered by OpenstackConfig ${former}, which is deleted, but ${leaving.join(', ')} would leave with this selection; select the same subnets as ${former} did, or, when ${former} is gone, set multinic.io/take-over-from: ${former}`;
  return { reason: 'NameConflict', subject: `node ${nodeName}`, message };
}
