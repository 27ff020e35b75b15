import { parse } from 'yaml';
import { managedObjects } from '../../../api/names.ts';
import type {
  ConfigMap,
  Deployment,
  PodDisruptionBudget,
  Service,
} from '../../../kube/core-resources.ts';
import type { Draft, KubeObject } from '../../../kube/object.ts';

/** Services allowed in the chart's operator manifests. */
export const operatorServices = [
  'multinic-operator-inventory-service',
  'multinic-operator-metrics',
  'multinic-operator-trigger',
] as const;

/** The operator's container. */
export const containerName = 'operator';

/** The operator manifests rendered by the chart, overlaid by lifecycle. */
export interface Base {
  readonly deployment: Draft<Deployment>;
  readonly services: readonly Draft<Service>[];
  readonly budget: Draft<PodDisruptionBudget> | undefined;
}

/** The base, or the reason it is unusable. */
export type ReadBase = { readonly base: Base } | { readonly problem: string };

interface Manifest extends KubeObject {
  readonly kind: string;
}

/** Reads ConfigMap multinic-controller-base: one YAML object per key. */
export function readBase(map: ConfigMap | undefined): ReadBase {
  if (!map) return { problem: 'is missing' };
  const objects: Manifest[] = [];
  for (const [key, text] of Object.entries(map.data ?? {})) {
    const object = manifestIn(text);
    if (object === undefined) return { problem: `is damaged: key ${key} is not an object` };
    objects.push(object);
  }
  const [deployment] = ofKind<Deployment>(objects, 'Deployment', [managedObjects.controller]);
  if (!deployment) {
    return { problem: `is damaged: it has no Deployment ${managedObjects.controller}` };
  }
  if (!hasContainer(deployment)) {
    return { problem: `is damaged: its Deployment has no container ${containerName}` };
  }
  const [budget] = ofKind<PodDisruptionBudget>(objects, 'PodDisruptionBudget', [
    managedObjects.controller,
  ]);
  const services = ofKind<Service>(objects, 'Service', operatorServices);
  return { base: { deployment, services, budget } };
}

function manifestIn(text: string): Manifest | undefined {
  try {
    const value = parse(text) as Partial<Manifest> | null;
    const isObject = typeof value?.kind === 'string' && typeof value.metadata?.name === 'string';
    return isObject ? (value as Manifest) : undefined;
  } catch {
    return undefined;
  }
}

/** Ignores other names, which lifecycle may not write. */
function ofKind<T extends KubeObject>(
  objects: readonly Manifest[],
  kind: string,
  names: readonly string[],
): Draft<T>[] {
  const found = objects.filter((one) => one.kind === kind && names.includes(one.metadata.name));
  return found as unknown as Draft<T>[];
}

function hasContainer({ spec }: Draft<Deployment>): boolean {
  const { containers = [] } = spec?.template?.spec ?? {};
  return containers.some(({ name }) => name === containerName);
}
