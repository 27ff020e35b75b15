import * as z from 'zod';
import { type MultiNicOperatorStatus, multiNicOperatorStatus } from '../../api/multinicoperator.ts';
import { managementGroup } from '../../api/names.ts';
import type { KubeObject } from '../../kube/object.ts';
import { defineResource } from '../../kube/resource.ts';

/** A MultiNicOperator as read: a server without our schema may store anything. */
export interface OperatorObject extends KubeObject {
  readonly spec?: unknown;
  readonly status?: unknown;
}

export const multiNicOperators = defineResource<OperatorObject>({
  group: managementGroup,
  version: 'v1alpha1',
  plural: 'multinicoperators',
  kind: 'MultiNicOperator',
  namespaced: true,
});

/** Returns the readable status fields; unreadable fields are rewritten. */
export function statusOf({ status = {} }: OperatorObject): MultiNicOperatorStatus {
  const whole = multiNicOperatorStatus.safeParse(status);
  return whole.success ? whole.data : (readableStatus.safeParse(status).data ?? {});
}

const readableStatus = z.object(
  Object.fromEntries(
    Object.entries(multiNicOperatorStatus.shape).map(([key, field]) => [
      key,
      z.catch(field, undefined),
    ]),
  ),
);
