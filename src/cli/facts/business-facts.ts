import { labelValue } from '../../api/label-value.ts';
import { agentAppName, labels, namespaces } from '../../api/names.ts';
import type { Wording } from '../../api/reasons/reason-row.ts';
import type { Fact } from '../../explain/fact.ts';
import type { AgentJob, KubernetesNode, PartVersion } from '../../explain/facts.ts';
import { say } from '../../explain/wording.ts';
import {
  deployments,
  type Job,
  jobs,
  type Node,
  nodes,
  type Pod,
  pods,
} from '../../kube/core-resources.ts';
import { grantBusiness } from '../access/grants.ts';
import type { Session } from '../access/session.ts';
import { type FactAbout, factOf } from './unread.ts';

function about(session: Session, what: Wording, provider: string): FactAbout {
  const context = session.options.businessContext.get(provider) ?? 'CONTEXT';
  const grant = grantBusiness(context);
  return {
    what: say(`${what.en} of ${provider}`, `${provider}의 ${what.ko}`),
    source: 'business cluster',
    grant,
    now: session.now(),
  };
}

export function readKubernetesNodes(
  session: Session,
  provider: string,
): Promise<Fact<KubernetesNode[]>> {
  return factOf(about(session, say('Nodes', 'Node'), provider), async () => {
    const client = await session.business(provider);
    const { items } = await client.listAll(nodes, { signal: session.signal });
    return items.map(kubernetesNodeOf);
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

/** Reads the agent Job that was created last for a node; undefined: none exists. */
export function readAgentJob(
  session: Session,
  provider: string,
  nodeName: string,
): Promise<Fact<AgentJob | undefined>> {
  const { signal } = session;
  const what = say(`Agent Jobs of ${nodeName}`, `${nodeName}의 에이전트 Job`);
  return factOf(about(session, what, provider), async () => {
    const client = await session.business(provider);
    const namespace = namespaces.agents;
    const labelSelector = `${labels.appName}=${agentAppName},${labels.nodeName}=${labelValue(nodeName)}`;
    const { items } = await client.listAll(jobs, { namespace, labelSelector, signal });
    const [latest] = items.toSorted((a, b) => createdAt(b) - createdAt(a));
    if (!latest) return undefined;
    const ofJob = { namespace, labelSelector: `job-name=${latest.metadata.name}`, signal };
    const { items: found } = await client.listAll(pods, ofJob);
    return agentJobOf(latest, found);
  });
}

function createdAt({ metadata }: Job): number {
  return Date.parse(metadata.creationTimestamp ?? '') || 0;
}

function agentJobOf(job: Job, found: readonly Pod[]): AgentJob {
  const { reason, message } = found.flatMap((pod) => waitingOf(pod))[0] ?? failureOf(job);
  const attempt = Number(job.metadata.labels?.[labels.attempt]);
  return {
    name: job.metadata.name,
    attempt: Number.isInteger(attempt) ? attempt : undefined,
    reason,
    message,
  };
}

function failureOf({ status }: Job): Waiting {
  const failed = status?.conditions?.find(
    ({ type, status: word }) => type === 'Failed' && word === 'True',
  );
  return { reason: failed?.reason, message: failed?.message };
}

interface Waiting {
  readonly reason: string | undefined;
  readonly message: string | undefined;
}

function waitingOf({ status }: Pod): Waiting[] {
  const container = (status?.containerStatuses ?? []).flatMap(({ state }) => state?.waiting ?? []);
  const unscheduled = (status?.conditions ?? []).filter(
    ({ type, status: word }) => type === 'PodScheduled' && word === 'False',
  );
  return [...container, ...unscheduled].map(({ reason, message }) => ({ reason, message }));
}

/** Reads the build of the controller in a business cluster; empty: not installed by the chart. */
export function readControllerVersion(
  session: Session,
  provider: string,
): Promise<Fact<PartVersion[]>> {
  return factOf(about(session, say('Controller', '컨트롤러'), provider), async () => {
    const client = await session.business(provider);
    const labelSelector = `${labels.component}=controller,${labels.appName}=${agentAppName}`;
    const { items } = await client.listAll(deployments, {
      namespace: namespaces.system,
      labelSelector,
      signal: session.signal,
    });
    return items.flatMap(({ metadata }) => {
      const version = metadata.labels?.['app.kubernetes.io/version'];
      return version === undefined
        ? []
        : [{ part: 'controller' as const, providerId: provider, version }];
    });
  });
}
