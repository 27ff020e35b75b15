import { at, isObject, type Json, type JsonObject, sameJson } from '../objects/json.ts';
import type { KubeObject } from '../objects/object.ts';
import type { Cause } from '../objects/status-error.ts';
import type { Strategy } from './resource-type.ts';

/** A Pod that a kubelet may be running gets its grace period; any other one goes at once. */
export const podStrategy: Strategy = {
  gracePeriodSeconds(pod) {
    const phase = at(pod, 'status', 'phase');
    const finished = phase === 'Succeeded' || phase === 'Failed';
    const grace = at(pod, 'spec', 'terminationGracePeriodSeconds');
    return finished || !at(pod, 'spec', 'nodeName') || typeof grace !== 'number' ? 0 : grace;
  },
};

/** An immutable ConfigMap or Secret keeps its data and stays immutable. */
export const dataStrategy: Strategy = {
  validate(object, live) {
    if (live?.['immutable'] !== true) return [];
    const changed = ['data', 'binaryData', 'stringData'].filter(
      (field) => !sameJson(object[field], live[field]),
    );
    if (object['immutable'] !== true) changed.push('immutable');
    return changed.map((field) =>
      forbiddenCause(field, 'field is immutable when `immutable` is set'),
    );
  },
};

/** A Secret stores what came as `stringData` in `data`, base64. */
export const secretStrategy: Strategy = {
  ...dataStrategy,
  prepareCreate: withStringData,
  prepareUpdate: withStringData,
};

function withStringData(secret: KubeObject): KubeObject {
  const { stringData, ...rest } = secret;
  const type: Json = rest['type'] ?? 'Opaque';
  if (!isObject(stringData)) return { ...rest, type };
  const encoded = Object.entries(stringData).map(([key, value]): [string, string] => [
    key,
    Buffer.from(typeof value === 'string' ? value : '').toString('base64'),
  ]);
  const data: JsonObject = {
    ...(isObject(rest['data']) ? rest['data'] : {}),
    ...Object.fromEntries(encoded),
  };
  return { ...rest, type, data };
}

/** A namespace carries its own name as a label and is emptied before it goes. */
export const namespaceStrategy: Strategy = {
  prepareCreate(namespace) {
    const { name, labels } = namespace.metadata;
    const metadata = {
      ...namespace.metadata,
      labels: { ...labels, 'kubernetes.io/metadata.name': name },
    };
    return {
      ...namespace,
      metadata,
      spec: { finalizers: ['kubernetes'] },
      status: { phase: 'Active' },
    };
  },
};

export function forbiddenCause(field: string, why: string): Cause {
  return { reason: 'FieldValueForbidden', message: `Forbidden: ${why}`, field };
}

export function requiredCause(field: string, why = ''): Cause {
  return { reason: 'FieldValueRequired', message: `Required value${why && `: ${why}`}`, field };
}

export function invalidCause(field: string, value: Json, why: string): Cause {
  const message = `Invalid value: ${JSON.stringify(value)}: ${why}`;
  return { reason: 'FieldValueInvalid', message, field };
}
