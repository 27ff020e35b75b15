import { labelValue } from '../../api/label-value.ts';
import { agentAppName, labels, namespaces } from '../../api/names.ts';
import { accessTexts } from '../../api/texts/access.ts';
import { filled } from '../../api/texts/text.ts';
import type { Fact } from '../../explain/fact.ts';
import type { AgentJob } from '../../explain/facts.ts';
import { type Job, jobs, type Pod, pods } from '../../kube/core-resources.ts';
import type { Session } from '../access/session.ts';
import { aboutBusiness } from './business-facts.ts';
import { factOf } from './unread.ts';

/** Reads the latest agent Job of a node; undefined: no Job exists. */
export function readAgentJob(
  session: Session,
  provider: string,
  nodeName: string,
): Promise<Fact<AgentJob | undefined>> {
  const what = filled(accessTexts.agentJobs, { nodeName });
  return factOf(session, aboutBusiness(session, what, provider, namespaces.agents), async () => {
    const latest = await latestJob(session, provider, nodeLabels(nodeName));
    return latest && agentJobOf(latest.job, latest.pods);
  });
}

function nodeLabels(nodeName: string): string {
  return `${labels.appName}=${agentAppName},${labels.nodeName}=${labelValue(nodeName)}`;
}

interface JobWithPods {
  readonly job: Job;
  readonly pods: readonly Pod[];
}

/** Returns the latest agent Job; undefined: no Job exists. */
async function latestJob(
  session: Session,
  provider: string,
  labelSelector: string,
): Promise<JobWithPods | undefined> {
  const { signal } = session;
  const client = await session.client(provider);
  const namespace = namespaces.agents;
  const { items } = await client.listAll(jobs, { namespace, labelSelector, signal });
  const [job] = items.toSorted((a, b) => createdAt(b) - createdAt(a));
  if (!job) return undefined;
  const ofJob = { namespace, labelSelector: `job-name=${job.metadata.name}`, signal };
  const { items: found } = await client.listAll(pods, ofJob);
  return { job, pods: found };
}

/** Reads the log of the latest check of a node; undefined: Job or Pod is gone. */
export function readCheckLog(
  session: Session,
  provider: string,
  nodeName: string,
): Promise<Fact<string | undefined>> {
  const what = filled(accessTexts.agentLog, { nodeName });
  return factOf(session, aboutBusiness(session, what, provider, namespaces.agents), async () => {
    const selector = `${nodeLabels(nodeName)},${labels.action}=check`;
    const [pod] = (await latestJob(session, provider, selector))?.pods ?? [];
    if (!pod) return undefined;
    const path = `/api/v1/namespaces/${namespaces.agents}/pods/${pod.metadata.name}/log`;
    return session.text(provider, `${path}?limitBytes=${mostLogBytes}`);
  });
}

/** Size limit: a check logs a line per NIC. */
const mostLogBytes = 1_000_000;

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
