import type { NodeView } from '../../api/read-http.ts';
import { reasons } from '../../api/reasons.ts';
import { unknownWord } from '../../process/nearest.ts';
import { Failure } from '../../session/access/failure.ts';
import type { Session } from '../../session/access/session.ts';
import { refuseUnknownCluster } from '../../session/facts/known-clusters.ts';
import { readConfigs } from '../../session/facts/management-facts.ts';
import { readClusters } from '../../session/facts/operator-facts.ts';
import { required } from '../../session/facts/required.ts';
import { providersIn, refuseAbsence } from '../../session/facts/unread-sources.ts';
import { WrongUsage } from '../refusal.ts';

/** State and reason from the command line; undefined: any. */
export interface WantedWords {
  readonly state?: string;
  readonly reason?: string;
}

/** Throws WrongUsage for a state outside the closed list. */
export function refuseUnknownState({ state }: WantedWords, states: readonly string[]): void {
  const why = state === undefined ? undefined : unknownWord('--state', state, states);
  if (why !== undefined) throw new WrongUsage(why, `choose one of ${states.join(', ')}`);
}

/** Returns the filter by state and reason for every read. The first read throws WrongUsage for an unknown reason. */
export function wordFilter<T extends Required<WantedWords>>({
  state,
  reason,
}: WantedWords): (rows: readonly T[]) => T[] {
  let isChecked = false;
  return (rows) => {
    if (!isChecked) refuseUnknownReason(rows, reason);
    // The last row of a newer operator's reason may disappear during --watch.
    isChecked = true;
    return rows.filter((row) => isEqual(row.state, state) && isEqual(row.reason, reason));
  };
}

/** Throws WrongUsage, unless the reasons table or a row has the reason. */
function refuseUnknownReason(
  rows: readonly Required<WantedWords>[],
  reason: string | undefined,
): void {
  const known = [...Object.keys(reasons), ...rows.map((row) => row.reason)];
  const why = reason === undefined ? undefined : unknownWord('--reason', reason, known);
  if (why !== undefined) {
    throw new WrongUsage(why, 'list all reasons: docs/reference/reasons.md, or the column REASON');
  }
}

function isEqual(value: string, wanted: string | undefined): boolean {
  return wanted === undefined || value.toLowerCase() === wanted.toLowerCase();
}

/** Nodes from the command line: names, and where. */
export interface WantedNodes {
  /** NODE or PROVIDER/NODE; empty: all. */
  readonly names: readonly string[];
  readonly cluster: string | undefined;
  /** Namespace of the OpenstackConfigs; undefined: all. */
  readonly namespace: string | undefined;
  /** OpenstackConfig as `namespace/name`; absent: all. */
  readonly config?: string | undefined;
}

/** Returns the wanted nodes. Throws Failure if no object names a wanted node or business cluster, Unread if unknown. */
export async function chosenNodes(
  session: Session,
  nodes: readonly NodeView[],
  { names, cluster, namespace, config }: WantedNodes,
): Promise<NodeView[]> {
  if (cluster !== undefined && nodes.length === 0) {
    refuseUnknownCluster(cluster, {
      clusters: required(await readClusters(session)),
      configs: required(await readConfigs(session, undefined)),
    });
  }
  const chosen = nodes.filter(
    (node) =>
      (names.length === 0 || names.some((name) => hasName(node, name))) &&
      (namespace === undefined || node.config.startsWith(`${namespace}/`)),
  );
  const missing = names.filter((name) => !nodes.some((node) => hasName(node, name)));
  if (missing.length > 0) {
    const where = cluster === undefined ? '' : ` to business cluster ${cluster}`;
    const claim = new Failure(
      `no OpenstackConfig delivers a node ${missing.join(', ')}${where}`,
      'list the nodes with: kubectl multinic nodes',
    );
    const providers = providersIn(missing, cluster);
    const hasRows = chosen.length > 0;
    await refuseAbsence(session, { providers, namespace, config, claim, hasRows });
  }
  return chosen;
}

function hasName({ providerId, nodeName }: NodeView, name: string): boolean {
  return name === nodeName || name === `${providerId}/${nodeName}`;
}
