import * as z from 'zod';
import { jsonIn } from '../../../api/json.ts';
import { annotations, managedObjects } from '../../../api/names.ts';
import { claims } from '../../../kube/core-resources.ts';
import type { Observed } from '../stage.ts';

const time = z.iso.datetime({ offset: true });

/** Result of a restore. */
const outcome = z.object({
  file: z.string(),
  at: time,
  /** Undefined: success. */
  failure: z.string().optional(),
  /** True if the live data may have changed. */
  touched: z.boolean(),
});

const operation = z.object({
  kind: z.enum(['restore', 'rotation', 'upgrade']),
  /** Value of the annotation, or the new image. */
  request: z.string(),
  step: z.string(),
  startedAt: time,
  deadline: time,
  /** Ended Job runs without a result in this step. */
  lostRuns: z.int().nonnegative().optional(),
  /** Operator replicas before the restore. */
  replicas: z.int().nonnegative().optional(),
  /** Identity of the data volume into which the copy was loaded; undefined: unknown. */
  volume: z.string().optional(),
  outcome: outcome.optional(),
});

/** Operation on the database, one at a time. Backups run between operations. */
export type Operation = z.infer<typeof operation>;

const failedRestore = outcome.required({ failure: true }).extend({ request: z.string() });

/** Failed restore with possibly changed data, kept until a later restore succeeds. */
export type FailedRestore = z.infer<typeof failedRestore>;

const operationRecord = z.object({
  operation: operation.optional(),
  failedRestore: failedRestore.optional(),
});

/**
 * Content for annotation `multinic.io/operation` on MariaDB's claim. The claim outlives status, MultiNicOperator and
 * lifecycle.
 */
export type OperationRecord = z.infer<typeof operationRecord>;

export type StoredRecord = OperationRecord & {
  /** Why the annotation cannot be read: no operation starts, and nothing changes. */
  readonly unreadable?: string;
};

export function recordIn({ objects }: Pick<Observed, 'objects'>): StoredRecord {
  const claim = objects.find(claims, managedObjects.databaseClaim);
  const text = claim?.metadata.annotations?.[annotations.operation];
  if (text === undefined || text === '') return {};
  const read = operationRecord.safeParse(jsonIn(text));
  if (read.success) return read.data;
  const unreadable = `annotation ${annotations.operation} of claim ${managedObjects.databaseClaim} is not an operation: ${z.prettifyError(read.error)}; if no Job of MariaDB runs, remove the annotation`;
  return { unreadable };
}

/** Returns the annotation's text; '': no operation and no failed restore. */
export function textOf(record: OperationRecord): string {
  const { operation: current, failedRestore: failed } = record;
  return current || failed ? JSON.stringify(record) : '';
}
