import type { Deployment } from 'kubernetes-types/apps/v1.js';
import type { ConfigMap, Container, EnvVar, Pod, PodSpec } from 'kubernetes-types/core/v1.js';
import type { ObjectMeta } from 'kubernetes-types/meta/v1.js';
import { parseAllDocuments } from 'yaml';
import { managedObjects } from '../../../src/api/names.ts';
import { goldenNames, goldenText } from './golden.ts';

/** A Kubernetes object as a chart renders it. */
export interface Manifest {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata?: ObjectMeta;
}

/** What a chart renders for one set of values. */
export interface Rendered {
  readonly name: string;
  readonly manifests: readonly Manifest[];
}

/** The renderings that the golden files state, with what lifecycle makes of a base in them. */
export const rendered: readonly Rendered[] = goldenNames.map((name) => {
  const manifests = manifestsIn(goldenText(name));
  return { name, manifests: [...manifests, ...baseIn(manifests)] };
});

export function renderedAs(name: string): readonly Manifest[] {
  const found = rendered.find((one) => one.name === name);
  if (!found) throw new Error(`there is no golden file of ${name}`);
  return found.manifests;
}

/** The objects in a text, in its order. */
export function manifestsIn(text: string): Manifest[] {
  return parseAllDocuments(text)
    .map((document) => document.toJS() as Manifest | null)
    .filter((manifest) => manifest !== null);
}

/** Objects of the operator in the ConfigMap from which lifecycle installs them; its Deployment fits several replicas. */
function baseIn(manifests: readonly Manifest[]): Manifest[] {
  return ofKind<ConfigMap>(manifests, 'ConfigMap')
    .filter(({ metadata }) => metadata?.name === managedObjects.controllerBase)
    .flatMap(({ data = {} }) => Object.values(data).flatMap(manifestsIn))
    .map((one) =>
      one.kind === 'Deployment'
        ? { ...one, spec: { ...(one as Deployment).spec, replicas: 2 } }
        : one,
    );
}

/** Those of one kind; whoever asks knows what objects of that kind have. */
export function ofKind<T extends Manifest>(manifests: readonly Manifest[], kind: string): T[] {
  return manifests.filter((manifest) => manifest.kind === kind) as T[];
}

export interface Workload {
  readonly metadata: ObjectMeta;
  readonly replicas: number;
  readonly pod: { readonly metadata: ObjectMeta; readonly spec: PodSpec };
  /** Absent of a Pod that stands for itself. */
  readonly selector?: Readonly<Record<string, string>>;
}

/** Whatever has Pods: Deployments, and the Pod of `helm test`. */
export function workloadsIn(manifests: readonly Manifest[]): Workload[] {
  const deployed = ofKind<Deployment>(manifests, 'Deployment').map(
    ({ metadata = {}, spec }): Workload => ({
      metadata,
      replicas: spec?.replicas ?? 1,
      selector: spec?.selector.matchLabels ?? {},
      pod: podOf(spec?.template ?? {}),
    }),
  );
  const single = ofKind<Pod>(manifests, 'Pod').map(
    (pod): Workload => ({ metadata: pod.metadata ?? {}, replicas: 1, pod: podOf(pod) }),
  );
  return [...deployed, ...single];
}

function podOf({ metadata = {}, spec }: { metadata?: ObjectMeta; spec?: PodSpec }) {
  return { metadata, spec: spec ?? { containers: [] } };
}

/** The one container of a workload that is named. */
export function containerOf(manifests: readonly Manifest[], name: string): Container {
  const containers = workloadsIn(manifests).flatMap(({ pod }) => pod.spec.containers);
  const found = containers.filter((container) => container.name === name);
  if (found.length !== 1 || !found[0]) throw new Error(`${found.length} containers ${name}`);
  return found[0];
}

/** The environment of a container; what comes from elsewhere is told by `from`. */
export function environmentOf(
  { env = [] }: Container,
  from: (source: NonNullable<EnvVar['valueFrom']>) => string,
): Record<string, string> {
  return Object.fromEntries(
    env.map(({ name, value = '', valueFrom }) => [name, valueFrom ? from(valueFrom) : value]),
  );
}
