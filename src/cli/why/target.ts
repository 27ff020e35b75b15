import type { NodeView } from '../../api/read-http.ts';
import type { Session } from '../../session/access/session.ts';
import type { PortSubject } from '../../session/facts/port-facts.ts';
import {
  findNodes,
  subjectOfNic,
  subjectsById,
  subjectsByQuery,
  subjectsOfServer,
} from '../../session/facts/port-subjects.ts';
import { parseTarget, type Target } from '../../session/facts/target.ts';
import { Refusal, WrongUsage } from '../refusal.ts';

/** Reads a target: port or server id, MAC, address, NODE/NIC, PROVIDER/NODE/NIC or a node's name. */
export function targetOf(text: string): Target {
  const target = parseTarget(text);
  if (target !== undefined) return target;
  throw unusableTarget(text);
}

export function unusableTarget(text: string): WrongUsage {
  return new WrongUsage(
    `"${text}" is no port id, MAC, address, NODE/NIC or server`,
    'give for example 10.50.0.9, fa:16:3e:00:00:90 or worker-18/multinic2',
  );
}

/** Returns the ports of a target. Throws if nothing has the name. */
export async function subjectsOf(session: Session, target: Target): Promise<PortSubject[]> {
  if (target.kind === 'nic') return byNic(session, target);
  if (target.kind === 'mac') return subjectsByQuery(session, { mac: target.value });
  if (target.kind === 'address') return subjectsByQuery(session, { address: target.value });
  return target.kind === 'uuid'
    ? subjectsById(session, target.value)
    : byNode(session, target.value);
}

async function byNode(session: Session, text: string): Promise<PortSubject[]> {
  const [nodeName = '', providerId] = text.split('/').toReversed();
  const nodes = await findNodes(session, nodeName, providerId);
  const found = nodes.map(({ instanceId }) => subjectsOfServer(session, instanceId));
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
  if (nic) return subjectOfNic(session, node, nic);
  const names = node.nics.map(({ name }) => name).join(', ') || 'none';
  throw new Refusal(
    `node ${node.providerId}/${node.nodeName} has no NIC ${nicName}; its NICs: ${names}`,
    `for a removed NIC see kubectl multinic history ${node.providerId}/${node.nodeName}/${nicName}`,
  );
}
