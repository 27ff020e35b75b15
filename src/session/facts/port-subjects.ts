import type { NicView, NodeView, PortView } from '../../api/read-http.ts';
import type { Fact } from '../../explain/fact.ts';
import { Failure } from '../access/failure.ts';
import type { Session } from '../access/session.ts';
import { hasAddress, hasMac } from './history-facts.ts';
import { type PortQuery, readNodes, readPorts } from './operator-facts.ts';
import type { PortSubject } from './port-facts.ts';
import { required } from './required.ts';
import { refuseAbsence } from './unread-sources.ts';

/** Returns a port's subject; otherwise a server's subjects. Without either: a subject for the absent port. */
export async function subjectsById(session: Session, id: string): Promise<PortSubject[]> {
  const ports = await readPorts(session, { portId: id });
  const search = { query: { portId: id }, matches: () => true };
  if (ports.state === 'unread' || ports.value.length > 0) return subjects(ports, search);
  const ofServer = await readPorts(session, { serverId: id });
  // A failed search by server cannot prove the port's absence.
  const isOfServer = ofServer.state === 'unread' || ofServer.value.length > 0;
  return isOfServer ? ofServerSubjects(ofServer) : subjects(ports, search);
}

export async function subjectsByQuery(session: Session, query: PortQuery): Promise<PortSubject[]> {
  const ports = await readPorts(session, query);
  return subjects(ports, searchOf(query));
}

function ofServerSubjects(fact: Fact<readonly PortView[]>): PortSubject[] {
  return subjects(fact).map((subject) => ({ ...subject, isOfServer: true }));
}

function searchOf({ mac: byMac, address }: PortQuery): PortSubject['search'] {
  if (byMac !== undefined) return { query: {}, matches: hasMac(byMac) };
  return address === undefined ? undefined : { query: {}, matches: hasAddress(address) };
}

/** Returns a subject per port; without ports one for the absent port. */
function subjects(fact: Fact<readonly PortView[]>, search?: PortSubject['search']): PortSubject[] {
  if (fact.state === 'unread') return [{ port: fact }];
  const ports = fact.value.length > 0 ? fact.value : [undefined];
  return ports.map((value) => ({ port: { ...fact, value }, search }));
}

/** Returns a subject per port on a server; without ports a subject for the absent port. */
export async function subjectsOfServer(session: Session, serverId: string): Promise<PortSubject[]> {
  return ofServerSubjects(await readPorts(session, { serverId }));
}

/** Returns a NIC's subject; NICs from the legacy operator have no port id. */
export async function subjectOfNic(
  session: Session,
  node: NodeView,
  nic: NicView,
): Promise<PortSubject> {
  const query = nic.portId === undefined ? { mac: nic.macAddress } : { portId: nic.portId };
  const ports = await readPorts(session, query);
  const port =
    ports.state === 'unread'
      ? ports
      : {
          ...ports,
          value: ports.value.find(({ deviceId }) => deviceId === node.instanceId) ?? ports.value[0],
        };
  return { port, entered: { node, nicName: nic.name } };
}

/** Finds a node by name, in every business cluster unless one is given. */
export async function findNodes(
  session: Session,
  nodeName: string,
  providerId: string | undefined,
): Promise<NodeView[]> {
  const filter = providerId === undefined ? {} : { providerId };
  const all = required(await readNodes(session, filter));
  const found = all.filter((node) => node.nodeName === nodeName);
  if (found.length > 0) return found;
  const claim = new Failure(
    `no OpenstackConfig delivers a node ${nodeName}${providerId === undefined ? '' : ` in ${providerId}`}`,
    'list the nodes with: kubectl multinic nodes; or give the id of a port or server',
  );
  const providers = providerId === undefined ? undefined : [providerId];
  await refuseAbsence(session, { providers, claim, hasRows: false });
  return found;
}
