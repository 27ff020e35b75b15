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
  return JSON.stringify(sorted(value));
}

function sorted(value: unknown): unknown {
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) return value.map(sorted);
  const fields = value as Readonly<Record<string, unknown>>;
  const keys = Object.keys(fields).toSorted();
  return Object.fromEntries(keys.map((key) => [key, sorted(fields[key])]));
}
