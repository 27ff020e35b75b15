import type { NodeView, PortView } from '../../api/read-http.ts';
import type { Fact } from '../../explain/fact.ts';
import type { PortFacts } from '../../explain/facts.ts';
import type { Session } from '../access/session.ts';
import { readAgentJob, readKubernetesNodes } from './business-facts.ts';
import { readConfigs, readParts } from './management-facts.ts';
import { readClusters, readFreshNode, readNodes } from './operator-facts.ts';
import { readControllers } from './system-facts.ts';

/** Port to explain. */
export interface PortSubject {
  readonly port: Fact<PortView | undefined>;
  /** Node and NIC that the user entered; undefined: the port's node. */
  readonly entered?: { readonly node: NodeView; readonly nicName: string } | undefined;
}

type NodeRef = Pick<NodeView, 'providerId' | 'nodeName'>;

/** Reads everything that the explanation of a port needs. */
export async function readPortFacts(
  session: Session,
  { port, entered }: PortSubject,
): Promise<PortFacts> {
  const view = port.state === 'read' ? port.value : undefined;
  const ref: NodeRef | undefined = entered?.node ?? view?.node;
  const serverId = view?.deviceId ?? entered?.node.instanceId ?? '';
  const [clusters, node, nodes, parts, configs, kubernetesNodes, job, controllers] =
    await Promise.all([
      readClusters(session),
      ref ? readFreshNode(session, ref) : absent<NodeView>(session),
      readNodes(session, ref ? { providerId: ref.providerId } : {}),
      readParts(session),
      readConfigs(session, undefined),
      ref ? readKubernetesNodes(session, ref.providerId) : absent<never[]>(session),
      ref ? readAgentJob(session, ref.providerId, ref.nodeName) : absent<never>(session),
      readControllers(session),
    ]);
  const network = view?.networkId;
  return {
    port,
    cluster: map(clusters, (all) => all.find(({ providerId }) => providerId === ref?.providerId)),
    node,
    kubernetesNode: map(kubernetesNodes, (all) =>
      all?.find(({ systemUuid }) => systemUuid.toLowerCase() === serverId.toLowerCase()),
    ),
    job,
    neighbours: map(nodes, (all) => all.filter((each) => isNeighbour(each, ref, network))),
    versions: map(parts, ({ versions }) => [...versions, ...controllers]),
    configs,
    ...(entered ? { nicName: entered.nicName } : {}),
    now: session.now(),
  };
}

function isNeighbour(
  { nics, nodeName, providerId }: NodeView,
  self: NodeRef | undefined,
  network: string | undefined,
): boolean {
  const isSelf = nodeName === self?.nodeName && providerId === self.providerId;
  return !isSelf && nics.some(({ networkId }) => networkId === network);
}

async function absent<T>(session: Session): Promise<Fact<T | undefined>> {
  const at = session.now().toISOString();
  return Promise.resolve({ state: 'read', value: undefined, source: 'operator', at });
}

function map<T, U>(fact: Fact<T>, convert: (value: T) => U): Fact<U> {
  return fact.state === 'read' ? { ...fact, value: convert(fact.value) } : fact;
}
