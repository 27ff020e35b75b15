import { attentionOf, expectedPorts } from '../../api/node-summary.ts';
import type { NodeView } from '../../api/read-http.ts';

/** Fields with a facet. */
const facetFields = ['cluster', 'config', 'state', 'reason', 'network', 'backend'] as const;
export type FacetField = (typeof facetFields)[number];

/** Wanted values; undefined: any. */
export type NodeFilter = Readonly<Partial<Record<FacetField | 'text', string | undefined>>>;

/** Most values in a facet. */
const mostValues = 50;

const valuesOf: Readonly<Record<FacetField, (node: NodeView) => readonly string[]>> = {
  cluster: ({ providerId }) => [providerId],
  config: ({ config }) => [config],
  state: ({ state }) => [state],
  reason: reasonsOf,
  network: ({ nics }) =>
    nics.flatMap(({ networkName, networkId }) => networkName ?? networkId ?? []),
  backend: ({ backend }) => (backend === undefined ? [] : [backend]),
};

/** Returns the reasons for attention: of the node, its NICs and its unused ports. */
function reasonsOf(node: NodeView): string[] {
  const all = [
    attentionOf(node),
    ...node.nics.map(({ reason }) => reason),
    ...expectedPorts(node).map(({ reason }) => reason),
  ];
  return all.filter((reason) => reason !== '');
}

/** Returns whether a node has the wanted values; `except`: a field that does not count. */
function isMatch(node: NodeView, filter: NodeFilter, except?: FacetField): boolean {
  return (
    hasText(node, filter.text) &&
    facetFields.every((field) => {
      const wanted = field === except ? undefined : filter[field];
      return wanted === undefined || valuesOf[field](node).includes(wanted);
    })
  );
}

function hasText(node: NodeView, text: string | undefined): boolean {
  if (text === undefined || text === '') return true;
  const wanted = text.toLowerCase();
  return textsOf(node).some((each) => each.toLowerCase().includes(wanted));
}

function textsOf({ nodeName, instanceId, nics, unusedPorts }: NodeView): string[] {
  return [
    nodeName,
    instanceId,
    ...nics.flatMap(({ name, macAddress, portId = '', addresses }) => [
      name,
      macAddress,
      portId,
      ...addresses,
    ]),
    ...unusedPorts.flatMap(({ portId, macAddress = '', address = '' }) => [
      portId,
      macAddress,
      address,
    ]),
  ];
}

/** Returns the matching nodes. */
export function filteredNodes(nodes: readonly NodeView[], filter: NodeFilter): NodeView[] {
  return nodes.filter((node) => isMatch(node, filter));
}

/** Counts nodes by value, most nodes first; only nodes with a match in all further fields count. */
export function facetOf(nodes: readonly NodeView[], filter: NodeFilter, field: FacetField) {
  const counts = new Map<string, number>();
  for (const node of nodes) {
    if (!isMatch(node, filter, field)) continue;
    for (const value of new Set(valuesOf[field](node))) {
      counts.set(value, (counts.get(value) ?? 0) + 1);
    }
  }
  return [...counts]
    .map(([value, count]) => ({ value, count }))
    .toSorted((a, b) => b.count - a.count || (a.value < b.value ? -1 : 1))
    .slice(0, mostValues);
}
