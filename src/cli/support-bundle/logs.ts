import { type Pod, pods } from '../../kube/core-resources.ts';
import { explained } from '../facts/unread.ts';
import type { Run } from '../run-command.ts';
import type { Collected, Place } from './entries.ts';

/** Lines per container, the newest. */
const mostLines = 20_000;
/** Pods per namespace, the newest: agent Jobs leave many. */
const mostPods = 50;

/** Reads the logs of all Pods of a namespace, newest Pods first. */
export async function collectLogs(
  all: Collected,
  { session, progress }: Run,
  { folder, context, namespace, grant }: Place & { readonly namespace: string },
  sinceSeconds: number,
): Promise<void> {
  const what = `Logs of ${folder} in ${namespace}`;
  try {
    const client = await session.client(context);
    const { items } = await client.listAll(pods, { namespace, signal: session.signal });
    const newest = items.toSorted((a, b) => startOf(b) - startOf(a));
    for (const pod of newest.slice(0, mostPods)) {
      progress.show(`reading the logs of ${namespace}/${pod.metadata.name}`);
      for (const container of containersOf(pod)) {
        const path = `/api/v1/namespaces/${namespace}/pods/${pod.metadata.name}/log?container=${container}&sinceSeconds=${sinceSeconds}&tailLines=${mostLines}&timestamps=true`;
        const content = await session.text(context, path);
        const file = `${folder}/${namespace}/logs/${pod.metadata.name}/${container}.log`;
        all.entries.push({ path: file, content, isLog: true });
      }
    }
    if (newest.length > mostPods) {
      all.skipped.push({ what, why: `only the ${mostPods} newest of ${newest.length} Pods` });
    }
  } catch (error) {
    const { why, next } = explained(error, grant);
    all.skipped.push({ what, why, next });
  }
}

function startOf({ metadata }: Pod): number {
  return Date.parse(metadata.creationTimestamp ?? '') || 0;
}

/** Containers that have started; others have no log. */
function containersOf({ status }: Pod): string[] {
  const all = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])];
  return all
    .filter(({ state }) => state?.running !== undefined || state?.terminated !== undefined)
    .map(({ name }) => name);
}
