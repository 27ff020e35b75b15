import { type Applied, recordOf } from '../jobs/applied.ts';
import type { Failure } from '../jobs/runner.ts';
import type { NodeConfig } from '../objects/stores.ts';
import type { NodeRecords } from './node-records.ts';

/** Claim of another namespace's object on the node of a record. */
interface Contest {
  /** The object's stale record, marked undone. */
  readonly undone: Applied;
  readonly why: Failure;
}

/** Returns the contest if an agent run from another namespace changed the node after the object's record. */
export function contestOf(
  config: NodeConfig,
  records: Pick<NodeRecords, 'later'>,
): Contest | undefined {
  const applied = recordOf(config);
  const run = applied && records.later(applied);
  if (!run) return undefined;
  const { namespace, name } = run.config;
  const message = `Job ${run.name} of ${namespace}/${name} also changes the node; this object is applied again when that Job no longer exists`;
  const why = { reason: 'DuplicateInstanceId', message } as const;
  return { undone: { ...applied, undone: true }, why };
}
