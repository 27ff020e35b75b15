import { at, isObject, type Json, type JsonObject, sameJson } from '../objects/json.ts';
import { badRequest, type Cause } from '../objects/status-error.ts';
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
  decode(secret) {
    const { stringData, ...rest } = secret;
    const type: Json = rest['type'] ?? 'Opaque';
    const given = Object.entries(isObject(rest['data']) ? rest['data'] : {});
    const refused = given.find(([, value]) => typeof value === 'string' && !base64.test(value));
    if (refused)
      throw badRequest(
        `Secret in version "v1" cannot be handled as a Secret: illegal base64 data in ${refused[0]}`,
      );
    const encoded = Object.entries(isObject(stringData) ? stringData : {}).map(
      ([key, value]): [string, string] => [key, toBase64(value)],
    );
    const data: JsonObject = Object.fromEntries([...given, ...encoded]);
    return { ...rest, type, ...(Object.keys(data).length > 0 ? { data } : {}) };
  },
};

const base64 = /^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

function toBase64(value: Json): string {
  return Buffer.from(typeof value === 'string' ? value : '').toString('base64');
}

/** A kubelet registers its Node together with its status. */
export const nodeStrategy: Strategy = { keepsStatus: true };

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
