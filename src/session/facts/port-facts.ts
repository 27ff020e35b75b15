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
import { refuseUnknownChoices } from './known-clusters.ts';
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

/** Reads everything that the explanation of a port needs. Throws Failure: an unknown business cluster was chosen. */
export async function readPortFacts(session: Session, subject: PortSubject): Promise<PortFacts> {
  const { port, entered, isOfServer } = subject;
  const { ref, serverId } = placeOf(subject);
  const [system, ofPlace] = await Promise.all([
    readSystemOf(session, subject),
    ref && readNodeOf(session, ref, serverId),
  ]);
  const ofNode = ofPlace ?? (await readWithoutNode(session, subject, system.configs));
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
  refuseUnknownChoices(session.options, clusters, configs);
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
function providerOf(
  { port }: PortSubject,
  configs: Fact<readonly OpenstackConfig[]>,
): string | undefined {
  const view = port.state === 'read' ? port.value : undefined;
  return view && configs.state === 'read' ? providerOfPort(view, configs.value) : undefined;
}

type NodePart = Pick<PortFacts, 'node' | 'kubernetesNode' | 'job'>;

/** Reads the server's Kubernetes Node before an OpenstackConfig delivers the node; an unread port may have a node. */
async function readWithoutNode(
  session: Session,
  subject: PortSubject,
  configs: SystemPart['configs'],
): Promise<NodePart> {
  const { port } = subject;
  if (port.state === 'unread') return { node: port, kubernetesNode: port, job: port };
  const at = session.now().toISOString();
  const absent = { state: 'read', value: undefined, source: 'operator', at } as const;
  const provider = providerOf(subject, configs);
  const { serverId } = placeOf(subject);
  if (provider === undefined || serverId === '') {
    return { node: absent, kubernetesNode: absent, job: absent };
  }
  const id = { instanceId: serverId, nodeName: '' };
  return { node: absent, kubernetesNode: await readNodeObject(session, provider, id), job: absent };
}

type NodeId = Parameters<typeof isNodeOf>[1];

async function readNodeObject(session: Session, provider: string, id: NodeId) {
  const all = await readKubernetesNodes(session, provider);
  return mapFact(all, (list) => list.find((each) => isNodeOf(each, id)));
}

/** Reads the facts about a delivered node. */
async function readNodeOf(session: Session, ref: NodeRef, serverId: string): Promise<NodePart> {
  const { providerId, nodeName } = ref;
  const [node, kubernetesNode, job] = await Promise.all([
    readFreshNode(session, ref, session.limit.ms),
    readNodeObject(session, providerId, { instanceId: serverId, nodeName }),
    readAgentJob(session, providerId, nodeName),
  ]);
  return { node, kubernetesNode, job };
}

function isNeighbour(
  { nics, nodeName, providerId }: NodeView,
  self: NodeRef | undefined,
  network: string | undefined,
): boolean {
  const isSelf = nodeName === self?.nodeName && providerId === self.providerId;
  return !isSelf && nics.some(({ networkId }) => networkId === network);
}
