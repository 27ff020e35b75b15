import { createHash } from 'node:crypto';
import * as z from 'zod';
import {
  type HostMount,
  hostMounts,
  ifcfgMount,
  machineIdMount,
  systemBusMount,
} from '../../api/host-mounts.ts';
import { family, type JobRequest, jobFiles, jobRequest } from '../../api/job.ts';
import { labelValue } from '../../api/label-value.ts';
import { agentAppName, annotations, labels } from '../../api/names.ts';
import type { ConfigMap, Job } from '../../kube/core-resources.ts';
import { keyOf, refOf } from '../../kube/object.ts';
import type { Machine } from '../objects/machine.ts';
import { guessFamily } from './family.ts';
import type { Order } from './runner.ts';

/** What an installation decides about agent Jobs. */
export interface JobTemplate {
  readonly namespace: string;
  readonly image: string;
  readonly imagePullPolicy: 'Always' | 'IfNotPresent' | 'Never';
  readonly imagePullSecrets: readonly string[];
  /** Without token; see deploy/rbac/namespaces.yaml. */
  readonly serviceAccount: string;
  /** So that agents are not the first to be evicted; undefined: the cluster's default. */
  readonly priorityClass: string | undefined;
  /** Whether agents on nodes of NetworkManager may talk to it. */
  readonly systemBus: boolean;
  /** Of the agent container. A kubelet refuses a Pod that requests more than its node has left (OutOfcpu). */
  readonly resources: {
    readonly requests: Readonly<Record<string, string>>;
    readonly limits: Readonly<Record<string, string>>;
  };
  readonly deadlineSeconds: number;
  /** Longer than the longest pause between two attempts, so that a restart finds the count in the labels. */
  readonly ttlSeconds: number;
}

export const containerName = 'agent';

/**
 * `multinic-agent-<node>-<hash>`: the same name for the same run at any time, so that a second creation collides. At most
 * 63 characters, because the Job controller writes it into the label job-name.
 */
export function jobName({
  uid,
  content,
  action,
  attempt,
  node,
}: Pick<Order, 'uid' | 'content' | 'action' | 'attempt' | 'node'>): string {
  const run = [uid, content, action, attempt].join('/');
  const hash = createHash('sha256').update(run).digest('hex').slice(0, 10);
  const stem = `${agentAppName}-${node.replaceAll('.', '-')}`.slice(0, 63 - hash.length - 1);
  return `${stem.replace(/-+$/, '')}-${hash}`;
}

/** The Job of one run, suspended: its Pod must not exist before the request that it mounts. */
export function jobOf(order: Order, template: JobTemplate): Job {
  const metadata = orderMetadata(order);
  return {
    metadata: { name: jobName(order), namespace: template.namespace, ...metadata },
    spec: {
      suspend: true,
      parallelism: 1,
      completions: 1,
      // A retry is a new Job with a new request; a restarted container would overwrite the result.
      backoffLimit: 0,
      activeDeadlineSeconds: template.deadlineSeconds,
      ttlSecondsAfterFinished: template.ttlSeconds,
      template: { metadata, spec: podSpec(order, template) },
    },
  };
}

type PodSpec = NonNullable<NonNullable<Job['spec']>['template']['spec']>;

function podSpec(order: Order, template: JobTemplate): PodSpec {
  const mounts = mountsFor(order, template);
  const { priorityClass } = template;
  return {
    // Not by the scheduler: a cordoned, full or tainted node must be configured too, and there is no choice to make.
    nodeName: order.node,
    tolerations: [{ operator: 'Exists' }],
    hostNetwork: true,
    dnsPolicy: 'Default',
    enableServiceLinks: false,
    restartPolicy: 'Never',
    // The agent finishes or undoes the NIC it is at when it is told to stop.
    terminationGracePeriodSeconds: 60,
    ...(priorityClass === undefined ? {} : { priorityClassName: priorityClass }),
    serviceAccountName: template.serviceAccount,
    automountServiceAccountToken: false,
    imagePullSecrets: template.imagePullSecrets.map((name) => ({ name })),
    securityContext: { seccompProfile: { type: 'RuntimeDefault' } },
    containers: [
      {
        name: containerName,
        image: template.image,
        imagePullPolicy: template.imagePullPolicy,
        args: agentArguments,
        terminationMessagePath: jobFiles.result,
        terminationMessagePolicy: 'File',
        securityContext: {
          privileged: false,
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          // Files of the host belong to root; a capability that is added to another user is not effective.
          runAsUser: 0,
          capabilities: { drop: ['ALL'], add: ['NET_ADMIN'] },
        },
        resources: template.resources,
        volumeMounts: [requestMount, ...mounts.map(mountOf)],
      },
    ],
    volumes: [
      { name: requestMount.name, configMap: { name: jobName(order) } },
      ...mounts.map(({ name, path, type }) => ({ name, hostPath: { path, type } })),
    ],
  };
}

/**
 * The kubelet starts no Pod whose file is missing, and reads the machine id that it reports from this one. Profiles of both
 * kinds are on systems that come with NetworkManager; elsewhere the mount would make the folder of the other kind.
 */
function mountsFor(
  { family: sent, machine }: Order,
  { systemBus }: JobTemplate,
): readonly HostMount[] {
  const hasBothKinds = sent === 'keyfile' && guessFamily(machine) === 'keyfile';
  return [
    ...hostMounts[sent],
    ...(hasBothKinds ? [ifcfgMount] : []),
    ...(systemBus && (sent === 'keyfile' || sent === 'ifcfg') ? [systemBusMount] : []),
    ...(machine.machineId === undefined ? [] : [machineIdMount]),
  ];
}

const requestMount = { name: 'request', mountPath: jobFiles.requestDirectory, readOnly: true };

function mountOf({ name, path, readOnly }: HostMount) {
  return { name, mountPath: `${jobFiles.hostRoot}${path}`, readOnly };
}

const agentArguments = [
  '--request',
  `${jobFiles.requestDirectory}/${jobFiles.requestKey}`,
  '--result',
  jobFiles.result,
  '--host-root',
  jobFiles.hostRoot,
];

/** The request of a run, owned by its Job: it goes when the Job goes. */
export function configMapOf(job: Job, request: JobRequest): ConfigMap {
  const { name, namespace, uid = '' } = job.metadata;
  return {
    metadata: {
      name,
      ...(namespace ? { namespace } : {}),
      labels: job.metadata.labels ?? {},
      ownerReferences: [{ apiVersion: 'batch/v1', kind: 'Job', name, uid, controller: true }],
    },
    immutable: true,
    data: { [jobFiles.requestKey]: JSON.stringify(request) },
  };
}

/** The order of a run as metadata of its Job and Pod: all that a restarted controller knows of it. */
function orderMetadata(order: Order) {
  return {
    labels: {
      [labels.appName]: agentAppName,
      [labels.component]: 'agent',
      [labels.managedBy]: 'multinic',
      [labels.nodeName]: labelValue(order.node),
      [labels.instance]: labelValue(order.instance),
      [labels.configUid]: order.uid,
      [labels.generation]: String(order.generation),
      [labels.attempt]: String(order.attempt),
      [labels.action]: order.action,
    },
    annotations: {
      [annotations.config]: keyOf(order.config),
      [annotations.content]: order.content,
      [annotations.machine]: machineText(order.machine),
      [annotations.family]: order.family,
    },
  };
}

function machineText({ nodeUid, machineId, osImage }: Machine): string {
  return JSON.stringify({ nodeUid, machineId, osImage });
}

/** Jobs of an earlier version name no machine: they were made for another one than any. */
const machineSchema = z
  .preprocess(
    (text) => jsonIn(String(text)),
    z.object({
      nodeUid: z.string(),
      machineId: z.string().optional(),
      osImage: z.string().optional(),
    }),
  )
  .catch({ nodeUid: '' });

/** What a text says as JSON; undefined when it is none, because somebody else wrote it or it was cut. */
export function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return undefined;
  }
}

const orderSchema = z.object({
  labels: z.object({
    [labels.configUid]: z.string().min(1),
    [labels.generation]: z.coerce.number().int(),
    [labels.attempt]: z.coerce.number().int(),
    [labels.action]: jobRequest.shape.action,
    [labels.instance]: z.string().catch(''),
  }),
  annotations: z.object({
    [annotations.config]: z.string().includes('/'),
    [annotations.content]: z.string(),
    [annotations.machine]: machineSchema,
    // Jobs of an earlier version were made for no other.
    [annotations.family]: family.catch('netplan'),
  }),
});

/** The order that a Job carries out; undefined for a Job that is not one of ours. */
export function orderOf({ metadata, spec }: Job): Order | undefined {
  const { data } = orderSchema.safeParse(metadata);
  if (!data) return undefined;
  const { namespace = '', name } = refOf(data.annotations[annotations.config]);
  const node = spec?.template.spec?.nodeName ?? '';
  const { nodeUid, machineId, osImage } = data.annotations[annotations.machine];
  return {
    uid: data.labels[labels.configUid],
    generation: data.labels[labels.generation],
    attempt: data.labels[labels.attempt],
    action: data.labels[labels.action],
    content: data.annotations[annotations.content],
    node,
    machine: { nodeName: node, nodeUid, machineId, bootId: undefined, osImage },
    family: data.annotations[annotations.family],
    instance: data.labels[labels.instance],
    config: { namespace, name },
  };
}
