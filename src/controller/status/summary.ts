import type { InterfaceStatus, NodeConfigStatus } from '../../api/multinicnodeconfig.ts';
import { nicSummaryBytes } from '../../api/multinicnodeconfig.ts';

/** Returns the texts of printer columns: kubectl shows only the first match of a list. */
export function summaryOf(
  statuses: readonly InterfaceStatus[],
): NonNullable<NodeConfigStatus['summary']> {
  // A NIC that leaves the node has no position in the spec.
  const wanted = statuses.filter(({ interfaceIndex }) => interfaceIndex !== undefined);
  const configured = wanted.filter(({ status }) => status === 'Configured');
  const addresses = configured.flatMap(({ address, addresses: all = [] }) =>
    all.length > 0 ? all.map((text) => text.split('/')[0] ?? text) : (address ?? []),
  );
  return { nics: `${configured.length}/${wanted.length}`, addresses: bounded(addresses) };
}

/** Joins as many whole addresses as fit. */
function bounded(addresses: readonly string[]): string {
  const all = addresses.join(',');
  if (all.length <= nicSummaryBytes) return all;
  const room = nicSummaryBytes - ',…'.length;
  return `${all.slice(0, all.lastIndexOf(',', room))},…`;
}
