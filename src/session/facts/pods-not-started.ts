import type { PodNotStarted } from '../../explain/facts.ts';
import {
  type Deployment,
  type EventObject,
  events,
  type Pod,
  pods,
} from '../../kube/core-resources.ts';
import { isForbidden } from '../../kube/errors.ts';
import type { Session } from '../access/session.ts';

/** Reads a Deployment's Pods without a start; undefined: the user may not read Pods. `provider`: as in PartHealth. */
export async function readPodsNotStarted(
  session: Session,
  { metadata: { namespace = '' }, spec }: Deployment,
  provider: string | undefined,
): Promise<PodNotStarted[] | undefined> {
  const client = await session.client(provider);
  const { signal } = session;
  const labelSelector = Object.entries(spec?.selector.matchLabels ?? {})
    .map(([key, value]) => `${key}=${value}`)
    .join(',');
  const found = await unlessForbidden(() =>
    client.listAll(pods, { namespace, labelSelector, signal }),
  );
  const waiting = (found?.items ?? []).flatMap((pod) => waitingOf(pod) ?? []);
  if (waiting.length === 0) return found && [];
  const all = await unlessForbidden(() => client.listAll(events, { namespace, signal }));
  return waiting.map((each) => {
    const last = lastMessage(all?.items ?? [], each.pod);
    return last === undefined ? each : { ...each, message: last };
  });
}

async function unlessForbidden<T>(read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (isForbidden(error)) return undefined;
    throw error;
  }
}

/** Returns the first waiting container, then the scheduler's verdict; undefined: the Pod has started. */
function waitingOf(pod: Pod): PodNotStarted | undefined {
  const found = waitingContainer(pod) ?? unscheduled(pod) ?? unstarted(pod);
  return found && { pod: pod.metadata.name, ...found };
}

type Verdict = Omit<PodNotStarted, 'pod'> | undefined;

function waitingContainer({ status }: Pod): Verdict {
  const containers = [
    ...(status?.initContainerStatuses ?? []),
    ...(status?.containerStatuses ?? []),
  ];
  for (const { state, image } of containers) {
    const { reason, message } = state?.waiting ?? {};
    if (reason !== undefined) return { reason, image, message };
  }
  return undefined;
}

function unscheduled({ status }: Pod): Verdict {
  const condition = status?.conditions?.find(
    ({ type, status: word }) => type === 'PodScheduled' && word === 'False',
  );
  return condition && { reason: condition.reason ?? 'Unschedulable', message: condition.message };
}

function unstarted({ status }: Pod): Verdict {
  const { phase = '', reason = phase, message } = status ?? {};
  return phase === 'Failed' || phase === 'Pending' ? { reason, message } : undefined;
}

/** Returns the last Event's message about a Pod; a Warning wins over a later normal Event. */
function lastMessage(all: readonly EventObject[], pod: string): string | undefined {
  const own = all.filter(({ involvedObject: { kind, name } }) => kind === 'Pod' && name === pod);
  const warnings = own.filter(({ type }) => type === 'Warning');
  const [last] = (warnings.length > 0 ? warnings : own).toSorted((a, b) => timeOf(b) - timeOf(a));
  return last?.message;
}

function timeOf({ lastTimestamp, eventTime, firstTimestamp, metadata }: EventObject): number {
  const time = lastTimestamp ?? eventTime ?? firstTimestamp ?? metadata.creationTimestamp ?? '';
  return Date.parse(time) || 0;
}
