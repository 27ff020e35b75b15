import type { Store } from '../../kube/cache/store.ts';
import type { Job, Pod } from '../../kube/core-resources.ts';
import { runOf } from './evidence.ts';
import type { Run } from './runner.ts';

interface Read {
  readonly uid: string;
  /** Versions of the Job and its Pods; undefined when one of them has none. */
  readonly versions: string | undefined;
  readonly run: Run | undefined;
}

/**
 * Returns what lists the runs of Jobs that have not ended. Stores keep Jobs as text, and each node that waits for a place asks
 * for all open runs: a Job is parsed again only when it or one of its Pods has changed.
 */
export function createOpenRuns(jobs: Store<Job>, pods: Store<Pod>): () => readonly Run[] {
  let known: ReadonlyMap<string, Read> = new Map();

  function versionsOf(key: string, uid: string): string | undefined {
    const podKeys = pods.keysByIndex('job', uid);
    const all = [jobs.versionOf(key), ...podKeys.map((pod) => pods.versionOf(pod))];
    return all.includes(undefined) ? undefined : JSON.stringify([podKeys, all]);
  }

  function read(key: string): Read | undefined {
    const before = known.get(key);
    if (before?.versions !== undefined && before.versions === versionsOf(key, before.uid)) {
      return before;
    }
    const job = jobs.get(key);
    if (!job) return undefined;
    const { uid = '' } = job.metadata;
    return { uid, versions: versionsOf(key, uid), run: runOf(job, pods.byIndex('job', uid)) };
  }

  return () => {
    const now = jobs.keysByIndex('open', 'yes').flatMap((key) => {
      const found = read(key);
      return found ? [[key, found] as const] : [];
    });
    known = new Map(now);
    return now.flatMap(([, { run }]) => run ?? []);
  };
}
