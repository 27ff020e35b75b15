import { isIP } from 'node:net';
import type { NodeView, PortView } from '../../api/read-http.ts';
import type { Fact } from '../../explain/fact.ts';
import { Failure } from '../../session/access/failure.ts';
import type { Session } from '../../session/access/session.ts';
import { hasAddress, hasMac } from '../../session/facts/history-facts.ts';
import { type PortQuery, readNodes, readPorts } from '../../session/facts/operator-facts.ts';
import type { PortSubject } from '../../session/facts/port-facts.ts';
import { refuseAbsence } from '../../session/facts/unread-sources.ts';
import { required } from '../output/list.ts';
import { Refusal, WrongUsage } from '../refusal.ts';

/** What the user entered. */
export type Target =
  | { readonly kind: 'uuid' | 'mac' | 'address' | 'node'; readonly value: string }
  | {
      readonly kind: 'nic';
      /** Undefined: the node name is in one business cluster only. */
      readonly providerId: string | undefined;
      readonly nodeName: string;
      readonly nic: string;
    };

const uuid = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;
const mac = /^(?:[0-9a-f]{2}[:-]){5}[0-9a-f]{2}$/i;

/** Reads a target: port or server id, MAC, address, NODE/NIC, PROVIDER/NODE/NIC or a node's name. */
export function parseTarget(text: string): Target {
  if (uuid.test(text)) return { kind: 'uuid', value: text.toLowerCase() };
  if (mac.test(text)) return { kind: 'mac', value: text.toLowerCase().replaceAll('-', ':') };
  const [address = ''] = text.split('/');
  if (isIP(address) !== 0) return { kind: 'address', value: address };
  const target = parseName(text.split('/'));
  if (target !== undefined) return target;
  throw new WrongUsage(
    `"${text}" is no port id, MAC, address, NODE/NIC or server`,
    'give for example 10.50.0.9, fa:16:3e:00:00:90 or worker-18/multinic2',
  );
}

/** Reads [PROVIDER/]NODE[/NIC]; undefined: neither. */
function parseName(parts: readonly string[]): Target | undefined {
  const nic = parts.at(-1) ?? '';
  if (parts.length > 1 && parts.length <= 3 && /^multinic[0-9]$/.test(nic)) {
    const [nodeName = '', providerId] = parts.slice(0, -1).toReversed();
    return { kind: 'nic', providerId, nodeName, nic };
  }
  const isNode = parts.length <= 2 && parts.every((part) => /^[a-z0-9.-]+$/i.test(part));
  return isNode ? { kind: 'node', value: parts.join('/') } : undefined;
}

/** Returns the ports of a target. Throws if nothing has the name. */
export async function subjectsOf(session: Session, target: Target): Promise<PortSubject[]> {
  if (target.kind === 'nic') return byNic(session, target);
  if (target.kind === 'mac') return byQuery(session, { mac: target.value });
  if (target.kind === 'address') return byQuery(session, { address: target.value });
  return target.kind === 'uuid' ? byId(session, target.value) : byNode(session, target.value);
}

/** A port; otherwise a server with this id. */
async function byId(session: Session, id: string): Promise<PortSubject[]> {
  const ports = await readPorts(session, { portId: id });
  const search = { query: { portId: id }, matches: () => true };
  if (ports.state === 'unread' || ports.value.length > 0) return subjects(ports, search);
  const ofServer = await readPorts(session, { serverId: id });
  // A failed search by server cannot prove the port's absence.
  const isOfServer = ofServer.state === 'unread' || ofServer.value.length > 0;
  return isOfServer ? ofServerSubjects(ofServer) : subjects(ports, search);
}

async function byQuery(session: Session, query: PortQuery): Promise<PortSubject[]> {
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

async function byNode(session: Session, text: string): Promise<PortSubject[]> {
  const [nodeName = '', providerId] = text.split('/').toReversed();
  const nodes = await findNodes(session, nodeName, providerId);
  const found = nodes.map(async ({ instanceId }) =>
    ofServerSubjects(await readPorts(session, { serverId: instanceId })),
  );
  return (await Promise.all(found)).flat();
}

async function byNic(
  session: Session,
  { nodeName, providerId, nic: nicName }: Extract<Target, { kind: 'nic' }>,
): Promise<PortSubject[]> {
  const nodes = await findNodes(session, nodeName, providerId);
  return Promise.all(nodes.map(async (node) => ofNic(session, node, nicName)));
}

async function ofNic(session: Session, node: NodeView, nicName: string): Promise<PortSubject> {
  const nic = node.nics.find(({ name }) => name === nicName);
  if (!nic) {
    const names = node.nics.map(({ name }) => name).join(', ') || 'none';
    throw new Refusal(
      `node ${node.providerId}/${node.nodeName} has no NIC ${nicName}; its NICs: ${names}`,
      `for a removed NIC see kubectl multinic history ${node.providerId}/${node.nodeName}/${nicName}`,
    );
  }
  const query = nic.portId === undefined ? { mac: nic.macAddress } : { portId: nic.portId };
  const ports = await readPorts(session, query);
  const port =
    ports.state === 'unread'
      ? ports
      : {
          ...ports,
          value: ports.value.find(({ deviceId }) => deviceId === node.instanceId) ?? ports.value[0],
        };
  return { port, entered: { node, nicName } };
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
