import type { ScreenAnswer } from '../../api/dashboard/screens.ts';
import type { NodeView } from '../../api/read-http.ts';
import type { Fact } from '../../explain/fact.ts';
import type { AgentJob, KubernetesNode } from '../../explain/facts.ts';
import { problemsIn } from '../../explain/findings.ts';
import { nodeKey, valueOf } from '../../explain/subject.ts';
import type { Session } from '../../session/access/session.ts';
import { readAgentJob } from '../../session/facts/agent-facts.ts';
import { readKubernetesNode } from '../../session/facts/business-facts.ts';
import { readFreshNode, readPorts } from '../../session/facts/operator-facts.ts';
import { findNodes } from '../../session/facts/port-subjects.ts';
import { networksOf, nodeNicsOf, shownKubernetesNode } from './node-table.ts';
import { absentNode } from './screen-problems.ts';
import type { ScreenReads } from './screen-reads.ts';
import { shownConditions } from './shown-conditions.ts';
import { shownGroups } from './shown-findings.ts';
import { gapsOf } from './shown-sources.ts';

type NodeName = Pick<NodeView, 'providerId' | 'nodeName'>;

/** Reads a node with its ports, Node and Job. Throws if no OpenstackConfig delivers the node, or if nothing was read. */
export async function readNodeScreen(
  name: NodeName,
  reads: ScreenReads,
  signal: AbortSignal,
): Promise<ScreenAnswer<'node'>> {
  const session = reads.session(signal);
  const at = session.now().toISOString();
  const [fresh, job] = await Promise.all([
    readFreshNode(session, name, session.limit.ms),
    readAgentJob(session, name.providerId, name.nodeName),
  ]);
  const node = valueOf(fresh) ?? (await nodeOfList(session, name));
  const [ports, kubernetesNode] = await Promise.all([
    readPorts(session, { serverId: node.instanceId }),
    readKubernetesNode(session, name.providerId, node),
  ]);
  return {
    at,
    ...gapsOf([fresh, ports, kubernetesNode, job], session.options),
    ...shownNode({ node, isFresh: fresh.state === 'read', ports, kubernetesNode, job }),
    findings: findingsOf(node, reads),
  };
}

/** Returns the node as of the last sync. */
async function nodeOfList(session: Session, { providerId, nodeName }: NodeName): Promise<NodeView> {
  const [found] = await findNodes(session, nodeName, providerId);
  if (found) return found;
  throw absentNode(providerId, nodeName);
}

interface NodeRead {
  readonly node: NodeView;
  readonly isFresh: boolean;
  readonly ports: Awaited<ReturnType<typeof readPorts>>;
  readonly kubernetesNode: Fact<KubernetesNode | undefined>;
  readonly job: Fact<AgentJob | undefined>;
}

function shownNode({ node, isFresh, ports, kubernetesNode, job }: NodeRead) {
  const own = valueOf(kubernetesNode);
  const facts = { node, ports: valueOf(ports), kubernetesNode: own };
  const nics = nodeNicsOf(facts);
  return {
    node,
    isFresh,
    isPortsRead: ports.state === 'read',
    networks: networksOf(nics, facts),
    nics,
    kubernetesNode: own && shownKubernetesNode(own, nics),
    conditions: shownConditions(node.object?.conditions ?? [], node.object?.generation),
    job: valueOf(job),
  };
}

/** Returns the last examination's problems with the node; an open node starts no examination. */
function findingsOf(
  node: NodeView,
  { examination }: ScreenReads,
): ScreenAnswer<'node'>['findings'] {
  const { latest } = examination;
  if (!latest) return [];
  const key = nodeKey(node);
  const own = problemsIn(latest.sections).filter(
    ({ subject, affected = [] }) =>
      subject === key ||
      subject.startsWith(`${key}/`) ||
      affected.some((each) => each.node === key),
  );
  return shownGroups(own, latest.facts);
}
