import { createHash } from 'node:crypto';
import type { NodeConfigSpec } from './multinicnodeconfig.ts';

/**
 * sha256 (hex) of the canonical JSON of nodeName, instanceId and interfaces: keys sorted, absent fields left out. Written
 * by Viola as `spec.specHash`, echoed by the controller as `status.observedSpecHash`.
 */
export function specHash(spec: Pick<NodeConfigSpec, 'nodeName' | 'instanceId' | 'interfaces'>) {
  const { nodeName, instanceId, interfaces = [] } = spec;
  return createHash('sha256')
    .update(canonicalJson({ nodeName, instanceId, interfaces }))
    .digest('hex');
}

/** JSON with sorted keys and without undefined values: equal content gives equal text. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    inner !== null && typeof inner === 'object' && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}
