import type { InterfacePlan } from './interfaces.ts';
import type { Problem } from './plan.ts';
import type { ExistingObject } from './view.ts';

/**
 * Returns the plan that takes the object over unchanged: the next sync brings differences, under the rules for own
 * nodes. Returns a problem if NICs would leave without evidence, because then the selection is a different one.
 */
export function succeed(
  existing: ExistingObject,
  plan: InterfacePlan,
): { readonly plan: InterfacePlan } | { readonly problem: Problem } {
  const unproven = plan.confirmed.filter(({ basis }) => basis !== 'evidence');
  const held = plan.unconfirmed.filter(({ cause }) => cause !== 'unconfirmed');
  const leaving = [...unproven, ...held].map(({ name }) => name);
  if (leaving.length > 0) return { problem: otherNics(existing, leaving) };
  const { interfaces = [] } = existing.spec;
  return { plan: { ...plan, interfaces, confirmed: [], ask: [] } };
}

function otherNics({ nodeName, source }: ExistingObject, leaving: readonly string[]): Problem {
  const former = `${source?.namespace}/${source?.name}`;
  const message = `node ${nodeName} was delivered by OpenstackConfig ${former}, which is deleted, but ${leaving.join(', ')} would leave with this selection; select the same subnets as ${former} did, or, when ${former} is gone, set multinic.io/take-over-from: ${former}`;
  return { reason: 'NameConflict', subject: `node ${nodeName}`, message };
}
