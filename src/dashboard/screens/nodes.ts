import { nodeRowOf } from '../../api/dashboard/nodes.ts';
import type { ScreenAnswer } from '../../api/dashboard/screens.ts';
import type { NodeView } from '../../api/read-http.ts';
import { valueOf } from '../../explain/subject.ts';
import { PageProblem } from '../guard/page-problem.ts';
import { facetOf, filteredNodes, type NodeFilter } from './node-filter.ts';
import type { NodeList } from './screen-reads.ts';

/** Nodes per page. */
const pageSize = 250;

/** Returns a page of matching nodes with facets; `token`: of the page before. */
export function nodesOf(
  { nodes, unread, at }: NodeList,
  filter: NodeFilter,
  token: string | undefined,
): ScreenAnswer<'nodes'> {
  const all = valueOf(nodes) ?? [];
  const matching = filteredNodes(all, filter).toSorted((a, b) => compared(placeOf(a), placeOf(b)));
  const start = token === undefined ? undefined : placeIn(token);
  const rest = start ? matching.filter((node) => compared(placeOf(node), start) > 0) : matching;
  const page = rest.slice(0, pageSize);
  const last = page.at(-1);
  const facet = (field: Parameters<typeof facetOf>[2]) => facetOf(all, filter, field);
  return {
    at,
    unread,
    skipped: [],
    items: page.map(nodeRowOf),
    total: matching.length,
    all: all.length,
    continue: last && rest.length > page.length ? tokenOf(placeOf(last)) : undefined,
    facets: {
      cluster: facet('cluster'),
      config: facet('config'),
      state: facet('state'),
      reason: facet('reason'),
      network: facet('network'),
      backend: facet('backend'),
    },
  };
}

/** Order of nodes: business cluster, name, OpenstackConfig. */
function placeOf({ providerId, nodeName, config }: NodeView): readonly string[] {
  return [providerId, nodeName, config];
}

function compared(a: readonly string[], b: readonly string[]): number {
  const at = a.findIndex((each, index) => each !== b[index]);
  if (at === -1) return 0;
  return (a[at] ?? '') < (b[at] ?? '') ? -1 : 1;
}

function tokenOf(place: readonly string[]): string {
  return Buffer.from(JSON.stringify(place)).toString('base64url');
}

function placeIn(token: string): readonly string[] {
  try {
    const place: unknown = JSON.parse(Buffer.from(token, 'base64url').toString());
    if (Array.isArray(place) && place.every((each) => typeof each === 'string')) return place;
  } catch {
    // Refused below.
  }
  throw new PageProblem(400, {
    reason: 'InvalidRequest',
    message: 'continue: no token of this list',
    nextStep: 'read the list from its start',
  });
}
