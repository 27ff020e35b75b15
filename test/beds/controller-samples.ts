import type { JobResult, NicResult } from '../../src/api/job.ts';
import type { InterfaceSpec } from '../../src/api/multinicnodeconfig.ts';
import { type JobTemplate, jobOf } from '../../src/controller/job.ts';
import type { Order } from '../../src/controller/runner.ts';
import { type NodeConfig, readNodeConfig } from '../../src/controller/stores.ts';
import type { Job, Node, Pod } from '../../src/kube/core-resources.ts';

/** Objects as tests of the controller need them; every part can be replaced. */

export const instanceId = '6f1e2d3c-0000-4000-8000-000000000001';

export function entry(index: number, change: Partial<InterfaceSpec> = {}): InterfaceSpec {
  return {
    id: index,
    name: `multinic${index}`,
    portId: `port-${index}`,
    macAddress: `fa:16:3e:00:00:0${index}`,
    address: `10.0.${index}.10`,
    cidr: `10.0.${index}.0/24`,
    mtu: 1450,
    ...change,
  };
}

interface RawConfig {
  readonly metadata?: object;
  readonly spec?: object;
  readonly status?: object;
}

export function nodeConfig({ metadata, spec, status }: RawConfig = {}): NodeConfig {
  return readNodeConfig({
    apiVersion: 'multinic.io/v1',
    kind: 'MultiNicNodeConfig',
    metadata: {
      name: 'worker-1',
      namespace: 'multinic-system',
      uid: 'uid-1',
      generation: 1,
      resourceVersion: '10',
      ...metadata,
    },
    spec: { nodeName: 'worker-1', instanceId, interfaces: [entry(0)], ...spec },
    ...(status ? { status } : {}),
  });
}

export function node(name: string, systemUUID: string, addresses: readonly string[] = []): Node {
  return {
    metadata: { name, uid: `uid-of-${name}` },
    status: {
      addresses: addresses.map((address) => ({ type: 'InternalIP', address })),
      nodeInfo: { systemUUID } as NonNullable<NonNullable<Node['status']>['nodeInfo']>,
    },
  };
}

export const template: JobTemplate = {
  namespace: 'multinic-agents',
  image: 'multinic-agent:test',
  imagePullPolicy: 'Never',
  imagePullSecrets: [],
  serviceAccount: 'multinic-agent',
  priorityClass: undefined,
  systemBus: false,
  selinuxType: undefined,
  deadlineSeconds: 600,
  ttlSeconds: 600,
};

export function order(change: Partial<Order> = {}): Order {
  return {
    uid: 'uid-1',
    generation: 1,
    attempt: 1,
    action: 'apply',
    content: 'content-a',
    node: 'worker-1',
    machine: {
      nodeName: 'worker-1',
      nodeUid: 'uid-of-worker-1',
      machineId: 'machine-1',
      bootId: undefined,
    },
    family: 'netplan',
    instance: instanceId,
    config: { namespace: 'multinic-system', name: 'worker-1' },
    ...change,
  };
}

interface JobChange {
  readonly metadata?: object;
  readonly spec?: object;
  readonly status?: Job['status'];
}

/** The Job of an order as the server holds it, unsuspended unless told otherwise. */
export function job(of: Order = order(), { metadata, spec, status }: JobChange = {}): Job {
  const made = jobOf(of, template);
  return {
    ...made,
    metadata: { ...made.metadata, uid: `uid-of-${made.metadata.name}`, ...metadata },
    spec: { ...made.spec, suspend: false, ...spec } as NonNullable<Job['spec']>,
    ...(status ? { status } : {}),
  };
}

export function pod(status: Pod['status'], metadata: object = {}): Pod {
  return {
    metadata: {
      name: 'pod-1',
      namespace: template.namespace,
      creationTimestamp: '2026-01-01T00:00:00Z',
      ...metadata,
    },
    ...(status ? { status } : {}),
  };
}

type ContainerState = NonNullable<
  NonNullable<NonNullable<Pod['status']>['containerStatuses']>[number]['state']
>;

/** Status of a Pod whose agent is in this state. */
export function agentIn(state: ContainerState, phase = 'Running'): NonNullable<Pod['status']> {
  const container = { name: 'agent', image: '', imageID: '', ready: false, restartCount: 0 };
  return { phase, containerStatuses: [{ ...container, state }] };
}

/** Status of a Pod whose agent ended with this termination message. */
export function agentSaid(message: string, change: object = {}): NonNullable<Pod['status']> {
  const terminated = { exitCode: 0, finishedAt: '2026-01-01T00:01:00Z', message, ...change };
  return agentIn({ terminated }, 'Succeeded');
}

export function nicResult(index: number, change: Partial<NicResult> = {}): NicResult {
  return {
    index,
    portId: `port-${index}`,
    mac: `fa:16:3e:00:00:0${index}`,
    name: `multinic${index}`,
    state: 'Configured',
    reason: 'Configured',
    message: '',
    ...change,
  };
}

export function jobResult(change: Partial<JobResult> = {}): JobResult {
  return {
    protocol: 1,
    uid: 'uid-1',
    generation: 1,
    attempt: 1,
    bootId: 'boot-1',
    outcome: 'ok',
    nics: [nicResult(0)],
    warnings: [],
    ...change,
  };
}
