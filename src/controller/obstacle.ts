import type { AcceptedSpec } from './accept.ts';
import type { NodeConfig } from './node-config.ts';
import type { Failure } from './runner.ts';

export interface ObstacleInput {
  readonly spec: AcceptedSpec;
  readonly nodeName: string;
  /** Other objects that mean the same node. */
  readonly rivals: readonly NodeConfig[];
}

/** Why no agent may be sent to the node of an object; its NICs stay as they are. */
export function obstacleTo({ spec, nodeName, rivals }: ObstacleInput): Failure | undefined {
  if (spec.blocked !== undefined) return { reason: 'InvalidEntries', message: spec.blocked };
  if (rivals.length === 0) return undefined;
  const names = rivals.map(({ metadata }) => metadata.name).toSorted();
  const message = `node ${nodeName} is also meant by ${names.join(', ')}`;
  return { reason: 'DuplicateInstanceId', message };
}
