import type { OpenstackConfig } from '../../api/openstackconfig.ts';
import type { NodeView, PortView } from '../../api/read-http.ts';
import { isNodeOf } from '../../explain/checks/kubernetes-node.ts';
import { type Fact, mapFact } from '../../explain/fact.ts';
import type { PortFacts } from '../../explain/facts.ts';
import { providerOfPort } from '../../explain/subject.ts';
import type { Session } from '../access/session.ts';
import { readAgentJob } from './agent-facts.ts';
import { readKubernetesNodes } from './business-facts.ts';
import { type HistorySearch, readFormerly } from './history-facts.ts';
import { readConfigs, readParts } from './management-facts.ts';
import { readClusters, readFreshNode, readNodes, readPorts } from './operator-facts.ts';
import { readControllers, versionsIn } from './system-facts.ts';

/** Port to explain. */
export interface PortSubject {
  readonly port: Fact<PortView | undefined>;
  /** Node and NIC that the user entered; undefined: the port's node. */
  readonly entered?: { readonly node: NodeView; readonly nicName: string } | undefined;
  /** True: the user entered a server. */
  readonly isOfServer?: boolean | undefined;
  /** Search for a former NIC; absent: the port has a node. */
  readonly search?: Pick<HistorySearch, 'query' | 'matches'> | undefined;
}

type NodeRef = Pick<NodeView, 'providerId' | 'nodeName'>;

/** Reads everything that the explanation of a port needs. */
export async function readPortFacts(session: Session, subject: PortSubject): Promise<PortFacts> {
  const { port, entered, isOfServer } = subject;
  const { ref, serverId } = placeOf(subject);
  const [system, ofNode] = await Promise.all([
    readSystemOf(session, subject),
    ref || port.state === 'read' ? readNodeOf(session, ref, serverId) : nodeOfUnread(port),
  ]);
  const nicName = entered === undefined ? {} : { nicName: entered.nicName };
  const [formerly, serverPorts] = await Promise.all([
    formerlyOf(session, subject),
    serverId === '' ? undefined : readPorts(session, { serverId }),
  ]);
  const ofServer = { ...(serverPorts ? { serverPorts } : {}), isOfServer: isOfServer ?? false };
  const more = { ...nicName, ...ofServer, ...formerly };
  return { port, ...system, ...ofNode, ...more, now: session.now() };
}

/** Reads the history only for a port without server. */
async function formerlyOf(
  session: Session,
  { port, search }: PortSubject,
): Promise<Pick<PortFacts, 'formerly'>> {
  if (port.state === 'unread' || port.value?.deviceId || !search) return {};
  return { formerly: await readFormerly(session, search) };
}

interface Place {
  /** Undefined: no OpenstackConfig delivers the server. */
  readonly ref: NodeRef | undefined;
  readonly serverId: string;
  readonly networkId: string | undefined;
}

function placeOf({ port, entered }: PortSubject): Place {
  const view = port.state === 'read' ? port.value : undefined;
  return {
    ref: entered?.node ?? view?.node,
    serverId: view?.deviceId ?? entered?.node.instanceId ?? '',
    networkId: view?.networkId,
  };
}

type SystemPart = Required<
  Pick<PortFacts, 'cluster' | 'neighbours' | 'versions' | 'controllers' | 'configs'>
>;

async function readSystemOf(session: Session, subject: PortSubject): Promise<SystemPart> {
  const { ref, networkId } = placeOf(subject);
  const [clusters, nodes, parts, configs, controllers] = await Promise.all([
    readClusters(session),
    readNodes(session, ref ? { providerId: ref.providerId } : {}),
    readParts(session),
    readConfigs(session, undefined, session.options.inventory !== undefined),
    readControllers(session),
  ]);
  const provider = ref?.providerId ?? providerOf(subject, configs);
  return {
    cluster: mapFact(clusters, (all) => all.find(({ providerId }) => providerId === provider)),
    neighbours: mapFact(nodes, (all) => all.filter((each) => isNeighbour(each, ref, networkId))),
    versions: mapFact(parts, ({ versions }) => [...versions, ...versionsIn(controllers)]),
    controllers,
    configs,
  };
}

/** Before the first sync only the OpenstackConfig names the business cluster. */
function providerOf({ port }: PortSubject, configs: Fact<OpenstackConfig[]>): string | undefined {
  const view = port.state === 'read' ? port.value : undefined;
  return view && configs.state === 'read' ? providerOfPort(view, configs.value) : undefined;
}

type NodePart = Pick<PortFacts, 'node' | 'kubernetesNode' | 'job'>;

/** An unread port may have a node. */
function nodeOfUnread(port: Extract<Fact<unknown>, { state: 'unread' }>): NodePart {
  return { node: port, kubernetesNode: port, job: port };
}

/** Reads the node's facts; without a node they are read and absent. */
async function readNodeOf(
  session: Session,
  ref: NodeRef | undefined,
  serverId: string,
): Promise<NodePart> {
  if (ref === undefined) {
    const at = session.now().toISOString();
    const absent = { state: 'read', value: undefined, source: 'operator', at } as const;
    return { node: absent, kubernetesNode: absent, job: absent };
  }
  const [node, kubernetesNodes, job] = await Promise.all([
    readFreshNode(session, ref, session.limit.ms),
    readKubernetesNodes(session, ref.providerId),
    readAgentJob(session, ref.providerId, ref.nodeName),
  ]);
  const id = { instanceId: serverId, nodeName: ref.nodeName };
  const own = mapFact(kubernetesNodes, (all) => all.find((each) => isNodeOf(each, id)));
  return { node, kubernetesNode: own, job };
}

function isNeighbour(
  { nics, nodeName, providerId }: NodeView,
  self: NodeRef | undefined,
  network: string | undefined,
): boolean {
  const isSelf = nodeName === self?.nodeName && providerId === self.providerId;
  return !isSelf && nics.some(({ networkId }) => networkId === network);
}
