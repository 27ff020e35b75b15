import type { Store } from '../../kube/cache/store.ts';
import type { Job, Pod } from '../../kube/core-resources.ts';
import { runOf } from './evidence.ts';
import type { Run } from './runner.ts';

interface Read {
  readonly uid: string;
  /** Resource versions of the Job and its Pods; undefined if any version is missing. */
  readonly versions: string | undefined;
  readonly run: Run | undefined;
}

/**
 * Returns a function that lists unfinished runs: with a sidecar in its Pod a Job outlives its agent. Stores keep Jobs
 * as text, and each queued node lists all open runs: a Job is parsed again only after a change in the Job or its Pods.
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
    return now.flatMap(([, { run }]) => (run && run.phase !== 'ended' ? run : []));
  };
}
