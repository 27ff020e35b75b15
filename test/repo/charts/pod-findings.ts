import type { Container, EnvVar } from 'kubernetes-types/core/v1.js';
import type { Workload } from './manifests.ts';

/** Something wrong with one thing: what, or nothing. */
type Look<T> = (subject: T) => string | false | undefined;

/** What linters such as kube-linter and polaris look for in Pods. */
export function podFindings(workload: Workload): string[] {
  const { containers } = workload.pod.spec;
  return [
    ...podLooks.map((look) => look(workload)),
    ...containers.flatMap((container) => containerLooks.map((look) => look(container))),
    // Who ends by itself is not asked how it is.
    ...(workload.selector ? containers.flatMap((one) => serverLooks.map((look) => look(one))) : []),
  ].filter((found) => typeof found === 'string');
}

const podLooks: readonly Look<Workload>[] = [
  ({ pod: { spec } }) =>
    Boolean(spec.hostNetwork || spec.hostPID || spec.hostIPC) && 'is in a namespace of its host',
  ({ pod: { spec } }) =>
    (spec.volumes ?? []).some(({ hostPath }) => hostPath) && 'mounts a path of its host',
  ({ pod: { spec } }) => !spec.securityContext?.runAsNonRoot && 'may run as root',
  ({ pod: { spec } }) =>
    spec.securityContext?.seccompProfile?.type !== 'RuntimeDefault' && 'has no seccomp profile',
  ({ pod: { spec } }) =>
    (spec.securityContext?.sysctls ?? []).length > 0 && 'sets sysctls of its node',
  ({ pod: { spec } }) =>
    ['', 'default'].includes(spec.serviceAccountName ?? '') && 'uses the default ServiceAccount',
  ({ pod: { spec } }) =>
    spec.automountServiceAccountToken === undefined &&
    'does not say whether it uses the token of its ServiceAccount',
  ({ pod: { spec } }) => spec.enableServiceLinks !== false && 'is told of Services by environment',
  ({ pod: { spec }, selector }) =>
    Boolean(selector) &&
    (spec.terminationGracePeriodSeconds ?? 0) < 30 &&
    'has less than 30 s to end',
  ({ replicas, pod: { spec } }) =>
    replicas > 1 && !spec.topologySpreadConstraints && 'has replicas that may be on one node',
  ({ pod: { spec } }) => danglingMount(spec.containers, spec.volumes ?? []),
];

function danglingMount(
  containers: readonly Container[],
  volumes: readonly { readonly name: string }[],
): string | undefined {
  const names = volumes.map(({ name }) => name);
  const mounted = containers.flatMap(({ volumeMounts = [] }) => volumeMounts.map((m) => m.name));
  const missing = mounted.find((name) => !names.includes(name));
  if (missing !== undefined) return `mounts ${missing}, which is no volume`;
  const unused = names.find((name) => !mounted.includes(name));
  return unused === undefined ? undefined : `has a volume ${unused} that nobody mounts`;
}

const containerLooks: readonly Look<Container>[] = [
  ({ image = '' }) =>
    /:latest(@|$)|^[^:@]+$/.test(image) && `has an image without version ${image}`,
  ({ resources }) => !resources?.requests?.['cpu'] && 'asks for no CPU',
  ({ resources }) => !resources?.requests?.['memory'] && 'asks for no memory',
  ({ resources }) => !resources?.limits?.['memory'] && 'has no limit of memory',
  ({ securityContext: own }) => own?.privileged === true && 'is privileged',
  ({ securityContext: own }) => own?.allowPrivilegeEscalation !== false && 'may gain privileges',
  ({ securityContext: own }) => own?.readOnlyRootFilesystem !== true && 'may write to its root',
  ({ securityContext: own }) =>
    (!own?.capabilities?.drop?.includes('ALL') || own.capabilities.add !== undefined) &&
    'has capabilities',
  ({ ports = [] }) => ports.some(({ containerPort }) => containerPort === 22) && 'serves SSH',
  ({ env = [] }) => twice(env.map(({ name }) => name)),
  ({ ports = [] }) => twice(ports.map(({ name = '' }) => name)),
  ({ env = [] }) => env.map(secretInSight).find((found) => found),
];

function twice(names: readonly string[]): string | undefined {
  const again = names.find((name, index) => names.indexOf(name) !== index);
  return again === undefined ? undefined : `has ${again} twice`;
}

/** Files that hold a secret may be named. */
function secretInSight({ name, value = '' }: EnvVar): string | false {
  const isSecret = /PASSWORD|SECRET$|TOKEN$|_KEY$/.test(name) && !value.startsWith('/');
  return isSecret && value !== '' && `has ${name} in sight`;
}

const serverLooks: readonly Look<Container>[] = [
  ({ livenessProbe }) => !livenessProbe && 'has no liveness probe',
  ({ readinessProbe }) => !readinessProbe && 'has no readiness probe',
  ({ startupProbe }) => !startupProbe && 'has no startup probe',
  ({ ports = [], livenessProbe, readinessProbe, startupProbe }) => {
    const names = ports.map(({ name }) => name);
    const asked = [livenessProbe, readinessProbe, startupProbe].map((one) => one?.httpGet?.port);
    const missing = asked.find((port) => !names.includes(String(port)));
    return missing !== undefined && `is asked at port ${missing}, which it has not`;
  },
];
