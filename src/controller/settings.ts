import * as z from 'zod';
import {
  agentAppName,
  bizConfigGroups,
  bizConfigModes,
  businessGroup,
  namespaces,
} from '../api/names.ts';
import {
  address,
  boolean,
  duration,
  integer,
  integerOrPercent,
  nonBlank,
  oneOf,
  type Percent,
} from '../process/setting-schemas.ts';
import { type Settings, setting } from '../process/settings.ts';
import { agentResources } from './jobs/agent-resources.ts';

/** Settings for `multinic controller`; names known from the legacy controller are unchanged. */
export const controllerSettings = {
  kubeconfig: setting({
    env: ['KUBECONFIG'],
    flag: 'kubeconfig',
    schema: nonBlank().optional(),
    description: 'kubeconfig of the business cluster; default: the ServiceAccount of the Pod',
  }),
  namespace: setting({
    env: ['CONTROLLER_NAMESPACE', 'POD_NAMESPACE'],
    flag: 'namespace',
    schema: nonBlank().default(namespaces.system),
    description: 'namespace of the MultiNicNodeConfigs and of the lease',
  }),
  agentNamespace: setting({
    env: ['AGENT_NAMESPACE'],
    flag: 'agent-namespace',
    schema: nonBlank().default(namespaces.agents),
    description: 'namespace of the agent Jobs; its Pod Security must allow hostNetwork',
  }),
  agentImage: setting({
    env: ['AGENT_IMAGE'],
    flag: 'agent-image',
    schema: nonBlank().default('multinic-agent:latest'),
    description: 'image of the agent',
  }),
  agentImagePullPolicy: setting({
    env: ['AGENT_IMAGE_PULL_POLICY'],
    flag: 'agent-image-pull-policy',
    schema: nonBlank()
      .default('IfNotPresent')
      .pipe(z.enum(['Always', 'IfNotPresent', 'Never'])),
    description: 'Always, IfNotPresent or Never',
  }),
  agentImagePullSecrets: setting({
    env: ['AGENT_IMAGE_PULL_SECRETS'],
    flag: 'agent-image-pull-secrets',
    schema: z
      .string()
      .default('')
      .transform((text) => text.split(',').flatMap((name) => name.trim() || [])),
    description: 'names of pull secrets in the namespace of the Jobs, separated by commas',
  }),
  agentServiceAccount: setting({
    env: ['CONTROLLER_SA_NAME', 'SERVICE_ACCOUNT'],
    flag: 'agent-service-account',
    schema: nonBlank().default(agentAppName),
    description: 'ServiceAccount of the agent Pods; they get no token of it',
  }),
  agentPriorityClass: setting({
    env: ['AGENT_PRIORITY_CLASS'],
    flag: 'agent-priority-class',
    schema: nonBlank().optional(),
    description:
      'PriorityClass of the agent Pods (system-node-critical is allowed in kube-system only); default: that of the cluster',
  }),
  agentSystemBus: setting({
    env: ['AGENT_SYSTEM_BUS'],
    flag: 'agent-system-bus',
    schema: z.string().default('false').pipe(boolean()),
    description:
      'true: agents on nodes of NetworkManager see the system bus of the host (/run/dbus), to have NetworkManager let go of a NIC that it took by DHCP before they came',
  }),
  agentSelinuxType: setting({
    env: ['AGENT_SELINUX_TYPE'],
    flag: 'agent-selinux-type',
    schema: z
      .string()
      .regex(/^[a-zA-Z][a-zA-Z0-9_.-]*$/)
      .optional(),
    description:
      'type of the SELinux context of the agent Pods, such as spc_t (not proven); default: that of the container runtime',
  }),
  agentResources: setting({
    env: ['AGENT_RESOURCES'],
    flag: 'agent-resources',
    schema: agentResources(),
    description:
      'requests and limits of the agent container as JSON, for namespaces with a LimitRange or a ResourceQuota; default: requests of 0, which full nodes admit, and a memory limit of 256Mi',
  }),
  jobTtlSeconds: setting({
    env: ['CONTROLLER_JOB_TTL'],
    flag: 'job-ttl',
    schema: z.string().default('600').pipe(integer(360, 604_800)),
    description: 'seconds that a finished Job is kept; longer than the pause between attempts',
  }),
  jobDeadlineMs: setting({
    env: ['CONTROLLER_JOB_DEADLINE'],
    flag: 'job-deadline',
    schema: z
      .string()
      .default('10m')
      .pipe(duration({ minMs: 30_000 })),
    description: 'how long one Job may take, pulling the image included; at least 30s',
  }),
  startDeadlineMs: setting({
    env: ['CONTROLLER_START_DEADLINE'],
    flag: 'start-deadline',
    schema: z
      .string()
      .default('2m')
      .pipe(duration({ minMs: 30_000 })),
    description:
      'how long an agent may take to begin, pulling the image included; then its Job is taken back; at least 30s',
  }),
  maxInFlight: setting({
    env: ['CONTROLLER_MAX_IN_FLIGHT'],
    flag: 'max-in-flight',
    schema: z.string().default('20').pipe(integerOrPercent(1, 1_000)),
    description: 'how many nodes may be worked on at once: a number, or a percentage of the Nodes',
  }),
  driftPolicy: setting({
    env: ['CONTROLLER_DRIFT_POLICY'],
    flag: 'drift-policy',
    schema: z
      .string()
      .default('heal')
      .pipe(oneOf(['heal', 'report'])),
    description:
      'heal: what a check finds to differ on a node is applied again; report: the condition Drifted tells it',
  }),
  checkIntervalMs: setting({
    env: ['CONTROLLER_CHECK_INTERVAL'],
    flag: 'check-interval',
    schema: z
      .string()
      .default('6h')
      .pipe(duration({ minMs: 300_000 })),
    description:
      'how long a node may go without being compared with what was applied to it, ±20 %; at least 5m',
  }),
  bizConfig: setting({
    env: ['CONTROLLER_BIZ_CONFIG'],
    flag: 'biz-config',
    schema: z.string().default('active').pipe(oneOf(bizConfigModes)),
    description:
      'active: each entry of a MultiNicBizConfig becomes a MultiNicNodeConfig; read-only: objects and status stay, edits are reported; off: the kind is ignored',
  }),
  bizConfigGroups: setting({
    env: ['CONTROLLER_BIZ_CONFIG_GROUPS'],
    flag: 'biz-config-groups',
    schema: z
      .string()
      .default(businessGroup)
      .transform((text) => text.split(',').flatMap((group) => group.trim() || []))
      .pipe(z.array(z.enum(bizConfigGroups))),
    description: `groups in which MultiNicBizConfigs are read (${bizConfigGroups.join(', ')}), separated by commas`,
  }),
  rolloutDomain: setting({
    env: ['CONTROLLER_ROLLOUT_DOMAIN'],
    flag: 'rollout-domain',
    schema: nonBlank().optional(),
    description:
      'label of Nodes, such as topology.kubernetes.io/zone: nodes of two values never change at once during a rollout; default: none',
  }),
  takeOver: setting({
    env: ['CONTROLLER_TAKE_OVER'],
    flag: 'take-over',
    schema: z.string().default('false').pipe(boolean()),
    description: 'true: the deployed controller was stopped for good, take its objects over',
  }),
  listen: setting({
    env: ['LISTEN_ADDR'],
    flag: 'listen',
    schema: z.string().default(':8080').pipe(address()),
    description: 'address of /healthz, /readyz and /metrics',
  }),
  identity: setting({
    env: ['POD_NAME', 'HOSTNAME'],
    flag: 'identity',
    schema: nonBlank().default('controller'),
    description: 'name of this process in the lease',
  }),
  leaseDurationMs: setting({
    env: ['LEASE_DURATION'],
    flag: 'lease-duration',
    schema: z
      .string()
      .default('15s')
      .pipe(duration({ minMs: 1_000 })),
    description: 'how long a leader that is gone keeps others waiting; at least 1s',
  }),
} satisfies Settings;

/** Returns how many Nodes may run an agent at once, at least 1. `nodes`: number of Nodes in the cluster. */
export function limitOf(maxInFlight: number | Percent, nodes: number): number {
  if (typeof maxInFlight === 'number') return maxInFlight;
  return Math.max(1, Math.floor((nodes * Number.parseInt(maxInFlight, 10)) / 100));
}
