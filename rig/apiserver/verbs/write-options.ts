import type { Cluster, Target } from '../cluster.ts';
import { timestamp } from '../cluster.ts';
import { apiVersionOf } from '../resources/resource-type.ts';
import type { Write } from '../ssa/apply.ts';

export interface WriteOptions {
  /** The field manager that the write is booked to. */
  readonly manager: string;
  readonly subresource?: string | undefined;
  /** Everything is checked and answered, nothing stored. */
  readonly dryRun?: boolean | undefined;
}

/** The write as ownership tracking needs it. */
export function trackedWrite(
  cluster: Cluster,
  { type }: Target,
  operation: 'Apply' | 'Update',
  { manager, subresource }: WriteOptions,
): Write {
  return {
    manager: {
      name: manager,
      operation,
      apiVersion: apiVersionOf(type),
      ...(subresource ? { subresource } : {}),
    },
    schema: type.schema,
    time: timestamp(cluster),
  };
}
