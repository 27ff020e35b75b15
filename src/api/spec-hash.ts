import { hash } from 'node:crypto';
import type { NodeConfigSpec } from './multinicnodeconfig.ts';

/**
 * Returns the sha256 (hex) for the canonical JSON with nodeName, instanceId and interfaces: sorted keys, no absent
 * fields. Viola writes this hash as `spec.specHash`, and the controller echoes it as `status.observedSpecHash`.
 */
export function specHash(spec: Pick<NodeConfigSpec, 'nodeName' | 'instanceId' | 'interfaces'>) {
  const { nodeName, instanceId, interfaces = [] } = spec;
  return hash('sha256', canonicalJson({ nodeName, instanceId, interfaces }));
}

/** Returns JSON with sorted keys and without undefined values: equal content gives equal text. */
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
