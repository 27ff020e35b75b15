import { type Job, jobs } from '../../kube/core-resources.ts';
import type { KubeObject } from '../../kube/object.ts';
import type { Resource } from '../../kube/resource.ts';
import { type OperatorObject, statusOf } from '../model/multinicoperator.ts';
import type { Observed } from '../model/stage.ts';
import { accept } from '../stages/accept/accept.ts';

/** Current time in stage tests. */
export const testTime = new Date('2026-11-26T10:00:00Z');

/** Returns a MultiNicOperator in lifecycle's namespace. */
export function operatorWith(
  spec: unknown,
  { annotations = {}, status }: { annotations?: Record<string, string>; status?: unknown } = {},
): OperatorObject {
  const metadata = {
    namespace: 'multinic-system',
    name: 'production-system',
    uid: 'uid-1',
    generation: 3,
    annotations,
  };
  return { metadata, spec, status };
}

/** Returns the stages' input for an operator and these live objects. */
export function observedOf(
  operator: OperatorObject,
  live: readonly (readonly [Resource<KubeObject>, KubeObject])[] = [],
): Observed {
  return {
    operator,
    status: statusOf(operator),
    accepted: accept(operator, testTime),
    namespace: 'multinic-system',
    objects: {
      find<T extends KubeObject>({ kind }: Resource<T>, name: string): T | undefined {
        const found = live.find(([of, { metadata }]) => of.kind === kind && metadata.name === name);
        return found?.[1] as T | undefined;
      },
    },
    pods: [],
    jobs: live.flatMap(([of, object]) => (of.kind === jobs.kind ? [object as Job] : [])),
    kubernetesMinor: 37,
    now: testTime,
  };
}
