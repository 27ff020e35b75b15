import { labels, managedObjects } from '../../../api/names.ts';
import type { Deployment } from '../../../kube/core-resources.ts';
import type { Draft, ObjectMeta } from '../../../kube/object.ts';
import type { ControllerWanted } from '../../model/accepted.ts';
import { managedLabels, ownedBy } from '../../model/desired.ts';
import type { OperatorObject } from '../../model/multinicoperator.ts';
import { containerName } from './base.ts';
import { type EnvEntry, environmentOf } from './environment.ts';
import { commandWithin } from './heap.ts';

/** Name of the SQLite inventory's volume and mount. */
const inventory = 'inventory';

export interface OverlayOptions {
  readonly operator: OperatorObject;
  readonly namespace: string;
  readonly databasePort: number;
  /** Pod annotations: a changed value restarts the Pods. */
  readonly podAnnotations: Readonly<Record<string, string>>;
}

type PodSpec = NonNullable<NonNullable<NonNullable<Draft<Deployment>['spec']>['template']>['spec']>;
type Container = NonNullable<NonNullable<PodSpec['containers']>[number]>;

/** Returns a base object with the MultiNicOperator's labels and owner reference. */
export function owned<T extends { readonly metadata: ObjectMeta }>(
  object: T,
  { operator, namespace }: Pick<OverlayOptions, 'operator' | 'namespace'>,
): T {
  const { metadata } = object;
  return {
    ...object,
    metadata: {
      ...metadata,
      namespace,
      labels: labelsOf(metadata.labels, operator),
      ownerReferences: [ownedBy(operator)],
    },
  };
}

function labelsOf(own: Readonly<Record<string, string>> = {}, operator: OperatorObject) {
  return { ...own, [labels.managedBy]: 'multinic-lifecycle', ...managedLabels(operator) };
}

/** Returns the operator's Deployment: the chart's manifest with changes from the MultiNicOperator. */
export function overlay(
  base: Draft<Deployment>,
  wanted: ControllerWanted,
  options: OverlayOptions,
): Draft<Deployment> {
  const { replicas: _, ...spec } = base.spec ?? {};
  const { template = {} } = spec;
  const { metadata, spec: pod = {} } = template;
  const deployment = owned(base, options);
  const app = { app: managedObjects.controller };
  const podLabels = metadata?.labels as Readonly<Record<string, string>> | undefined;
  const annotations = { ...metadata?.annotations, ...options.podAnnotations };
  return {
    ...deployment,
    metadata: {
      ...deployment.metadata,
      labels: { ...deployment.metadata.labels, ...app },
    },
    spec: {
      ...spec,
      ...(wanted.replicas === undefined ? {} : { replicas: wanted.replicas }),
      ...strategyOf(wanted),
      template: {
        metadata: {
          ...metadata,
          labels: { ...labelsOf(podLabels, options.operator), ...app },
          ...(Object.keys(annotations).length > 0 && { annotations }),
        },
        spec: podOf(pod, wanted, options),
      },
    },
  };
}

/** SQLite allows one writer; with MariaDB the next Pod is ready before the last one stops. */
function strategyOf({ inventory: kind }: ControllerWanted) {
  if (kind === 'sqlite') return {};
  return { strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } } };
}

function podOf(pod: PodSpec, wanted: ControllerWanted, options: OverlayOptions): PodSpec {
  const containers = (pod.containers ?? []).map((one) =>
    one.name === containerName ? containerOf(one, wanted, options) : one,
  );
  if (wanted.inventory === 'sqlite') return { ...pod, containers };
  const { volumes = [], ...rest } = pod;
  const others = volumes.filter(({ name }) => name !== inventory);
  return { ...rest, containers, ...(others.length > 0 && { volumes: others }) };
}

function containerOf(
  base: Container,
  wanted: ControllerWanted,
  options: OverlayOptions,
): Container {
  const { volumeMounts = [], ...rest } = base;
  const mounts =
    wanted.inventory === 'sqlite'
      ? volumeMounts
      : volumeMounts.filter(({ name }) => name !== inventory);
  const env = environmentOf((base.env ?? []) as readonly EnvEntry[], wanted, options);
  return {
    ...rest,
    ...(wanted.image === undefined ? {} : { image: wanted.image }),
    env: env as NonNullable<Container['env']>,
    ...resourcesOf(base, wanted),
    ...healthOf(base, wanted),
    ...(mounts.length > 0 && { volumeMounts: mounts }),
  };
}

/** Sets request = limit. */
function resourcesOf(base: Container, { resources: { cpu, memory } }: ControllerWanted) {
  const given = { ...(cpu && { cpu }), ...(memory && { memory }) };
  const command = memory ? commandWithin(base.command ?? [], memory) : base.command;
  const { requests, limits } = base.resources ?? {};
  return {
    ...(command && { command }),
    resources: {
      ...base.resources,
      requests: { ...requests, ...given },
      limits: { ...limits, ...given },
    },
  };
}

/** Probes refer to the port by name and follow the container port. */
function healthOf(base: Container, { healthPort, livenessPath }: ControllerWanted) {
  const ports = (base.ports ?? []).map((port) =>
    healthPort !== undefined && port.name === 'health'
      ? { ...port, containerPort: healthPort }
      : port,
  );
  const { livenessProbe } = base;
  const probe =
    livenessPath === undefined
      ? livenessProbe
      : { ...livenessProbe, httpGet: { ...livenessProbe?.httpGet, path: livenessPath } };
  return { ports, ...(probe && { livenessProbe: probe }) };
}
