import { type Pod, pods } from '../../kube/core-resources.ts';
import { isForbidden } from '../../kube/errors.ts';
import { explained } from '../../session/facts/unread.ts';
import type { Run } from '../run-command.ts';
import type { Collected, Place } from './entries.ts';

/** Lines per container, the newest. */
const mostLines = 20_000;
/** Pods per namespace, the newest: agent Jobs leave many. */
const mostPods = 50;

/** Reads the logs of all Pods of a namespace, newest Pods first. */
export async function collectLogs(
  all: Collected,
  run: Run,
  place: Place & { readonly namespace: string },
  sinceSeconds: number,
): Promise<void> {
  const { session, progress } = run;
  const { folder, provider, namespace, grant } = place;
  const what = `Logs of ${folder} in ${namespace}`;
  try {
    const client = await session.client(provider);
    const { items } = await client.listAll(pods, { namespace, signal: session.signal });
    const newest = items.toSorted((a, b) => startOf(b) - startOf(a));
    for (const pod of newest.slice(0, mostPods)) {
      progress.show(`reading the logs of ${namespace}/${pod.metadata.name}`);
      await collectPod(all, run, place, { pod, sinceSeconds });
    }
    if (newest.length > mostPods) {
      all.skipped.push({ what, why: `only the ${mostPods} newest of ${newest.length} Pods` });
    }
  } catch (error) {
    const { why, next } = explained(error, { grant, place: 'the cluster', kubeconfig: undefined });
    all.skipped.push({ what, why: why.en, next: next.en });
  }
}

interface PodLogs {
  readonly pod: Pod;
  readonly sinceSeconds: number;
}

/** A log that is gone, such as that of an evicted Pod, does not end the others. */
async function collectPod(
  all: Collected,
  { session }: Run,
  { folder, provider, namespace, grant }: Place & { readonly namespace: string },
  { pod, sinceSeconds }: PodLogs,
): Promise<void> {
  const { name } = pod.metadata;
  const query = `sinceSeconds=${sinceSeconds}&tailLines=${mostLines}&timestamps=true`;
  for (const { container, previous } of runsOf(pod)) {
    const run = previous ? `${query}&previous=true` : query;
    const path = `/api/v1/namespaces/${namespace}/pods/${name}/log?container=${container}&${run}`;
    const log = previous ? `${container}.previous` : container;
    try {
      const content = await session.text(provider, path);
      const file = `${folder}/${namespace}/logs/${name}/${log}.log`;
      all.entries.push({ path: file, content, isLog: true });
    } catch (error) {
      if (isForbidden(error)) throw error;
      const { why, next } = explained(error, {
        grant,
        place: 'the cluster',
        kubeconfig: undefined,
      });
      const what = `Log of ${namespace}/${name}/${log}`;
      all.skipped.push({ what, why: why.en, next: next.en });
    }
  }
}

function startOf({ metadata }: Pod): number {
  return Date.parse(metadata.creationTimestamp ?? '') || 0;
}

/** Run of a container with a log: the present one, or the one before a restart. */
interface ContainerRun {
  readonly container: string;
  readonly previous: boolean;
}

/** A container that waits for its first start has no log; after a crash the log of the previous run has the cause. */
function runsOf({ status }: Pod): ContainerRun[] {
  const all = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])];
  return all.flatMap(({ name: container, state, lastState }) => [
    ...((state?.running ?? state?.terminated) ? [{ container, previous: false }] : []),
    ...(lastState?.terminated ? [{ container, previous: true }] : []),
  ]);
}
