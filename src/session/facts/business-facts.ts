import type { MultiNicNodeConfig } from '../../api/multinicnodeconfig.ts';
import { agentAppName, labels, namespaces } from '../../api/names.ts';
import { accessTexts } from '../../api/texts/access.ts';
import { filled, type Wording } from '../../api/texts/text.ts';
import { isNodeOf } from '../../explain/checks/kubernetes-node.ts';
import type { Fact } from '../../explain/fact.ts';
import type { KubernetesNode, Parts } from '../../explain/facts.ts';
import { deployments, type Node, nodes } from '../../kube/core-resources.ts';
import { grantNodes, grantPods } from '../access/grants.ts';
import type { Session } from '../access/session.ts';
import { flagsTo } from '../access/sources.ts';
import { nodeConfigs } from './kinds.ts';
import { healthOf, versionsOf } from './part-health.ts';
import { type FactAbout, factOf } from './unread.ts';

/** Describes a fact about a business cluster; `namespace`: Pods, Jobs or Deployments there, else Nodes. */
export function aboutBusiness(
  session: Session,
  what: Wording,
  provider: string,
  namespace?: string,
): FactAbout {
  const flags = flagsTo(session.options, provider);
  const grant = namespace === undefined ? grantNodes(flags) : grantPods(flags, namespace);
  return {
    what: filled(accessTexts.inBusinessCluster, { what, provider }),
    source: 'business cluster',
    provider,
    grant,
  };
}

export function readKubernetesNodes(
  session: Session,
  provider: string,
): Promise<Fact<KubernetesNode[]>> {
  return factOf(
    session,
    aboutBusiness(session, accessTexts.kubernetesNodes, provider),
    async () => {
      const client = await session.client(provider);
      const { items } = await client.listAll(nodes, { signal: session.signal });
      return items.map(kubernetesNodeOf);
    },
  );
}

/** Reads a server's Node by name, else among all Nodes; undefined: no Node has the server's systemUUID. */
export function readKubernetesNode(
  session: Session,
  provider: string,
  id: Parameters<typeof isNodeOf>[1],
): Promise<Fact<KubernetesNode | undefined>> {
  const about = aboutBusiness(session, accessTexts.kubernetesNodes, provider);
  return factOf(session, about, async () => {
    const client = await session.client(provider);
    const { signal } = session;
    const named = await client.find(nodes, { name: id.nodeName }, { signal });
    const found = named && kubernetesNodeOf(named);
    if (found && isNodeOf(found, id)) return found;
    const { items } = await client.listAll(nodes, { signal });
    return items.map(kubernetesNodeOf).find((each) => isNodeOf(each, id));
  });
}

/** Reads the MultiNicNodeConfigs in all namespaces. */
export function readNodeConfigs(
  session: Session,
  provider: string,
): Promise<Fact<readonly MultiNicNodeConfig[]>> {
  const what = accessTexts.nodeConfigs;
  return factOf(session, aboutBusiness(session, what, provider), async () => {
    const client = await session.client(provider);
    const { items } = await client.listAll(nodeConfigs, { signal: session.signal });
    return items;
  });
}

function kubernetesNodeOf({ metadata, status }: Node): KubernetesNode {
  const addresses = status?.addresses ?? [];
  return {
    name: metadata.name,
    internalIps: addresses
      .filter(({ type }) => type === 'InternalIP')
      .map(({ address }) => address),
    isReady:
      status?.conditions?.some(({ type, status: word }) => type === 'Ready' && word === 'True') ??
      false,
    systemUuid: status?.nodeInfo?.systemUUID ?? '',
  };
}

/** Reads the controller in a business cluster. */
export function readController(session: Session, provider: string): Promise<Fact<Parts>> {
  return factOf(
    session,
    aboutBusiness(session, accessTexts.controller, provider, namespaces.system),
    async () => {
      const client = await session.client(provider);
      const labelSelector = `${labels.component}=controller,${labels.appName}=${agentAppName}`;
      const { items } = await client.listAll(deployments, {
        namespace: namespaces.system,
        labelSelector,
        signal: session.signal,
      });
      const part = { part: 'controller', providerId: provider } as const;
      return {
        health: await Promise.all(items.map((each) => healthOf(session, part, each))),
        versions: items.flatMap((each) => versionsOf(part, each)),
      };
    },
  );
}
