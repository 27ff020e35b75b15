import type { ObjectRef } from '../../kube/object.ts';
import { type NodeConfig, refOfConfig } from '../objects/stores.ts';
import type { Run, Runner } from './runner.ts';

type Runs = Pick<Runner, 'runsFor' | 'remove'>;

/** Deletes the object's runs that have not started, except runs that may start: by default none may. */
export async function withdrawRuns(
  runner: Runs,
  config: NodeConfig,
  signal: AbortSignal,
  mayStart: (run: Run) => boolean = () => false,
): Promise<void> {
  for (const run of runner.runsFor(refOfConfig(config))) {
    const isWaiting = run.uid === config.metadata.uid && hasNotBegun(run);
    if (isWaiting && !mayStart(run)) await runner.remove(run, signal);
  }
}

/** Deletes runs for deleted objects with the same name. `uid`: of the existing object; undefined: none exists. */
export async function collectRuns(
  runner: Runs,
  ref: ObjectRef,
  uid: string | undefined,
  signal: AbortSignal,
): Promise<void> {
  for (const run of runner.runsFor(ref)) {
    // A running agent is left to finish; only a later run on the node stops it.
    if (run.uid !== uid && (hasNotBegun(run) || run.phase === 'ended')) {
      await runner.remove(run, signal);
    }
  }
}

function hasNotBegun({ phase }: Run): boolean {
  return phase === 'prepared' || phase === 'pending';
}
