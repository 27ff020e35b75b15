import { hash } from 'node:crypto';
import * as z from 'zod';
import {
  type HostMount,
  hostMounts,
  ifcfgMount,
  machineIdMount,
  systemBusMount,
} from '../../api/host-mounts.ts';
import { family, type JobRequest, jobFiles, jobRequest } from '../../api/job.ts';
import { jsonIn } from '../../api/json.ts';
import { labelValue } from '../../api/label-value.ts';
import { agentAppName, annotations, labels } from '../../api/names.ts';
import type { ConfigMap, Job } from '../../kube/core-resources.ts';
import { keyOf, refOf } from '../../kube/object.ts';
import type { Machine } from '../objects/machine.ts';
import { guessFamily } from './family.ts';
import type { AgentTask } from './runner.ts';

/** Installation settings for agent Jobs. */
export interface JobTemplate {
  readonly namespace: string;
  readonly image: string;
  readonly imagePullPolicy: 'Always' | 'IfNotPresent' | 'Never';
  readonly imagePullSecrets: readonly string[];
  /** Has no token; see deploy/rbac/namespaces.yaml. */
  readonly serviceAccount: string;
  /** Protects agents from early eviction; undefined: the cluster's default. */
  readonly priorityClass: string | undefined;
  /** Gives agents access to the host's system bus. */
  readonly systemBus: boolean;
  /**
   * Resources for the agent container. A kubelet rejects a Pod whose requests exceed the node's free resources
   * (OutOfcpu).
   */
  readonly resources: {
    readonly requests: Readonly<Record<string, string>>;
    readonly limits: Readonly<Record<string, string>>;
  };
  readonly deadlineSeconds: number;
  /** Longer than the longest retry delay: a restarted controller can then read the attempt from the labels. */
  readonly ttlSeconds: number;
}

export const containerName = 'agent';

/**
 * Returns `multinic-agent-<node>-<hash>`, deterministic per run: a duplicate creation conflicts. At most 63 characters,
 * because the Job controller copies the name into the label job-name.
 */
export function jobName({
  uid,
  content,
  action,
  attempt,
  node,
}: Pick<AgentTask, 'uid' | 'content' | 'action' | 'attempt' | 'node'>): string {
  const run = [uid, content, action, attempt].join('/');
  const digest = hash('sha256', run).slice(0, 10);
  const stem = `${agentAppName}-${node.replaceAll('.', '-')}`.slice(0, 63 - digest.length - 1);
  return `${stem.replace(/-+$/, '')}-${digest}`;
}

/** Returns a run's Job, suspended: the Pod must not exist before the request ConfigMap it mounts. */
export function jobOf(task: AgentTask, template: JobTemplate): Job {
  const metadata = taskMetadata(task);
  return {
    metadata: { name: jobName(task), namespace: template.namespace, ...metadata },
    spec: {
      suspend: true,
      parallelism: 1,
      completions: 1,
      // A retry is a new Job with a new request; a restarted container would overwrite the result.
      backoffLimit: 0,
      activeDeadlineSeconds: template.deadlineSeconds,
      ttlSecondsAfterFinished: template.ttlSeconds,
      template: { metadata, spec: podSpec(task, template) },
    },
  };
}

type PodSpec = NonNullable<NonNullable<Job['spec']>['template']['spec']>;

function podSpec(task: AgentTask, template: JobTemplate): PodSpec {
  const mounts = mountsFor(task, template);
  const { priorityClass } = template;
  return {
    // Bypass the scheduler: cordoned, full or tainted nodes need configuration too, and the node is fixed.
    nodeName: task.node,
    tolerations: [{ operator: 'Exists' }],
    hostNetwork: true,
    dnsPolicy: 'Default',
    enableServiceLinks: false,
    restartPolicy: 'Never',
    // On SIGTERM the agent completes or rolls back the current NIC.
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
          // Host files belong to root; capabilities added for a non-root user are not effective.
          runAsUser: 0,
          capabilities: { drop: ['ALL'], add: ['NET_ADMIN'] },
        },
        resources: template.resources,
        volumeMounts: [requestMount, ...mounts.map(mountOf)],
      },
    ],
    volumes: [
      { name: requestMount.name, configMap: { name: jobName(task) } },
      ...mounts.map(({ name, path, type }) => ({ name, hostPath: { path, type } })),
    ],
  };
}

/**
 * Returns the host mounts. The kubelet starts no Pod with a missing mount file, and reads the reported machine id from
 * the same file. Distributions with NetworkManager have both profile directories; on other hosts the mount would create
 * the missing directory.
 */
function mountsFor(
  { family: sent, machine }: AgentTask,
  { systemBus }: JobTemplate,
): readonly HostMount[] {
  const hasBothKinds = sent === 'keyfile' && guessFamily(machine) === 'keyfile';
  return [
    ...hostMounts[sent],
    ...(hasBothKinds ? [ifcfgMount] : []),
    ...(systemBus ? [systemBusMount] : []),
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

/** Returns a run's request, owned by its Job for garbage collection. */
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

/**
 * Returns labels and annotations that encode the task on Job and Pod; a restarted controller restores the task from
 * these.
 */
function taskMetadata(task: AgentTask) {
  return {
    labels: {
      [labels.appName]: agentAppName,
      [labels.component]: 'agent',
      [labels.managedBy]: 'multinic',
      [labels.nodeName]: labelValue(task.node),
      [labels.instance]: labelValue(task.instance),
      [labels.configUid]: task.uid,
      [labels.generation]: String(task.generation),
      [labels.attempt]: String(task.attempt),
      [labels.action]: task.action,
    },
    annotations: {
      [annotations.config]: keyOf(task.config),
      [annotations.content]: task.content,
      [annotations.machine]: machineText(task.machine),
      [annotations.family]: task.family,
    },
  };
}

function machineText({ nodeUid, machineId, osImage }: Machine): string {
  return JSON.stringify({ nodeUid, machineId, osImage });
}

/** Jobs from an earlier version name no machine: the empty uid matches no machine. */
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

const taskSchema = z.object({
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
    // Jobs from an earlier version all target netplan.
    [annotations.family]: family.catch('netplan'),
  }),
});

/** Tasks by Job: a reconcile reads its Job three times. */
const tasks = new WeakMap<Job, AgentTask | undefined>();

/** Returns the task encoded in a Job; undefined for foreign Jobs. */
export function taskOfJob(job: Job): AgentTask | undefined {
  if (tasks.has(job)) return tasks.get(job);
  const task = readTask(job);
  tasks.set(job, task);
  return task;
}

function readTask({ metadata, spec }: Job): AgentTask | undefined {
  const { data } = taskSchema.safeParse(metadata);
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
