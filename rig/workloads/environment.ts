import type { KubeClient } from '../../src/kube/client/client.ts';
import { configMaps, type Pod, secrets } from '../../src/kube/core-resources.ts';
import type { Mounted } from './volumes.ts';

type Container = NonNullable<Pod['spec']>['containers'][number];
type EnvVar = NonNullable<Container['env']>[number];

/** The environment of a Pod's container as its Pod says it. */
export async function environmentOf(
  pod: Pod,
  client: Pick<KubeClient, 'find'>,
): Promise<ReadonlyMap<string, string>> {
  const { env = [], envFrom = [] } = pod.spec?.containers[0] ?? {};
  const wholesale = envFrom.map(({ configMapRef, secretRef }) =>
    configMapRef
      ? dataOf(pod, client, 'configMap', configMapRef.name ?? '')
      : dataOf(pod, client, 'secret', secretRef?.name ?? ''),
  );
  const single = env.map(async (entry) => ({ [entry.name]: await valueOf(pod, client, entry) }));
  const all = await Promise.all([...wholesale, ...single]);
  const known = all
    .flatMap((one) => Object.entries(one))
    .flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const]));
  return new Map(known);
}

async function valueOf(
  pod: Pod,
  client: Pick<KubeClient, 'find'>,
  { value, valueFrom }: EnvVar,
): Promise<string | undefined> {
  if (!valueFrom) return value ?? '';
  const { fieldRef, secretKeyRef, configMapKeyRef } = valueFrom;
  if (fieldRef) return fieldOf(pod, fieldRef.fieldPath);
  if (secretKeyRef?.name) {
    return (await dataOf(pod, client, 'secret', secretKeyRef.name))[secretKeyRef.key];
  }
  if (!configMapKeyRef?.name) return undefined;
  return (await dataOf(pod, client, 'configMap', configMapKeyRef.name))[configMapKeyRef.key];
}

function fieldOf({ metadata, spec }: Pod, path: string): string | undefined {
  const fields: Readonly<Record<string, string | undefined>> = {
    'metadata.name': metadata.name,
    'metadata.namespace': metadata.namespace,
    'metadata.uid': metadata.uid,
    'spec.nodeName': spec?.nodeName,
  };
  return fields[path];
}

async function dataOf(
  { metadata }: Pod,
  client: Pick<KubeClient, 'find'>,
  kind: 'secret' | 'configMap',
  name: string,
): Promise<Readonly<Record<string, string>>> {
  const ref = { namespace: metadata.namespace ?? '', name };
  if (kind === 'configMap') return (await client.find(configMaps, ref))?.data ?? {};
  const { data = {} } = (await client.find(secrets, ref)) ?? {};
  return Object.fromEntries(
    Object.entries(data).map(([key, text]) => [key, Buffer.from(text, 'base64').toString()]),
  );
}

/** A value with what is the container's own (paths below its mounts, addresses that it listens on) as this machine has it. */
export function asHere(
  value: string,
  mounts: readonly Mounted[],
  ports: ReadonlyMap<number, number>,
): string {
  const listened = /^(?:127\.0\.0\.1|0\.0\.0\.0)?:(\d+)$/.exec(value)?.[1];
  if (listened !== undefined) return `127.0.0.1:${ports.get(Number(listened)) ?? 0}`;
  const mount = mounts.find(
    ({ mountPath }) => value === mountPath || value.startsWith(`${mountPath}/`),
  );
  return mount ? mount.folder + value.slice(mount.mountPath.length) : value;
}
