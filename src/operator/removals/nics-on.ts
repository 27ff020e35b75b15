import { knownNics } from '../../api/known-nics.ts';
import type { ExistingNodeConfig } from '../../api/node-configs-http.ts';
import type { NicsAndNodes } from './budgets.ts';

/**
 * Returns the MAC addresses on a node: listed and known NICs. An agent's report without NICs means no NIC; without any
 * report the node may have every listed NIC. A deletion removes nothing from a node that was only observed.
 */
export function macsOn(node: ExistingNodeConfig): string[] {
  if (isOnlyChecked(node)) return [];
  const known = knownNics({ uid: node.uid }, node.status);
  return known.kind === 'read' && known.nics.length === 0 ? [] : reportedMacs(node);
}

/** True in mode Observe if the controller reports checks only: a deleted object then starts no agent. */
function isOnlyChecked({ uid, spec, status }: ExistingNodeConfig): boolean {
  const { action, objectUid, undone = false } = status?.applied ?? {};
  return spec.mode === 'Observe' && action === 'check' && objectUid === uid && !undone;
}

/** Returns listed and known MAC addresses. */
export function reportedMacs({ uid, spec, status }: ExistingNodeConfig): string[] {
  const known = knownNics({ uid }, status);
  const found = known.kind === 'read' ? known.nics.map(({ mac }) => mac) : [];
  const listed = (spec.interfaces ?? []).map(({ macAddress }) => macAddress.toLowerCase());
  return [...new Set([...listed, ...found])];
}

/** Counts NICs, and nodes with NICs. */
export function countNics(nodes: readonly ExistingNodeConfig[]): NicsAndNodes {
  const counts = nodes.map((node) => macsOn(node).length).filter((count) => count > 0);
  return { nics: counts.reduce((sum, count) => sum + count, 0), nodes: counts.length };
}
