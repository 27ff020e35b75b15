import * as z from 'zod';
import { plainForm } from '../api/address.ts';
import {
  agentAppName,
  bizConfigGroups,
  bizConfigModes,
  businessGroup,
  namespaces,
} from '../api/names.ts';
import { networkIn } from '../http/networks.ts';
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
import { removedSetting, type Settings, setting, type Values } from '../process/settings.ts';
import { agentResources } from './jobs/agent-resources.ts';
import type { JobTemplate } from './jobs/job.ts';

/** Removed settings of the controller: accepted and ignored for one release. */
const removedSettings = {
  identity: removedSetting(
    'identity',
    [],
    'the environment variable POD_NAME names the process in the lease',
  ),
  agentSelinuxType: removedSetting(
    'agent-selinux-type',
    ['AGENT_SELINUX_TYPE'],
    'the container runtime sets the SELinux type of agents; use a policy of the cluster to change it',
  ),
  jobDeadlineMs: removedSetting(
    'job-deadline',
    ['CONTROLLER_JOB_DEADLINE'],
    'the deadline of a Job is 10 minutes, or --start-deadline plus 8 minutes if that is longer',
  ),
} satisfies Settings;

/** Networks separated by commas; empty: none. */
function networks() {
  return z
    .string()
    .transform((text, context) => {
      const list = text.split(',').flatMap((each) => each.trim() || []);
      const flaw = list.map(networkIn).find((each) => typeof each === 'string');
      if (flaw === undefined) return list.map(plainForm);
      context.addIssue(flaw);
      return z.NEVER;
    })
    .prefault('');
}

/** Settings for `multinic controller`; names known from the legacy controller are unchanged. */
export const controllerSettings = {
  kubeconfig: setting({
    env: ['KUBECONFIG'],
    flag: 'kubeconfig',
    schema: nonBlank().optional(),
    description:
      'Kubeconfig of the business cluster. Without it, the controller uses the ServiceAccount of its Pod, and exits outside of a Pod.',
  }),
  namespace: setting({
    env: ['CONTROLLER_NAMESPACE', 'POD_NAMESPACE'],
    flag: 'namespace',
    schema: nonBlank().prefault(namespaces.system),
    description:
      'Namespace of the MultiNicNodeConfigs and of the lease. If Viola writes to another one, nothing is configured.',
  }),
  agentNamespace: setting({
    env: ['AGENT_NAMESPACE'],
    flag: 'agent-namespace',
    schema: nonBlank().prefault(namespaces.agents),
    description:
      'Namespace of the agent Jobs. Its Pod Security must be privileged, because agents use the network of the host; otherwise no Job gets a Pod.',
  }),
  agentImage: setting({
    env: ['AGENT_IMAGE'],
    flag: 'agent-image',
    schema: nonBlank().prefault('multinic-agent:latest'),
    description:
      'Image of the agent. If no node can pull it, node configs get the reason NotStarted.',
  }),
  agentImagePullPolicy: setting({
    env: ['AGENT_IMAGE_PULL_POLICY'],
    flag: 'agent-image-pull-policy',
    schema: oneOf(['Always', 'IfNotPresent', 'Never']).prefault('IfNotPresent'),
    description:
      'When the kubelet pulls the image of the agent: Always, IfNotPresent or Never. With Never, nodes without the image run no agent.',
  }),
  agentImagePullSecrets: setting({
    env: ['AGENT_IMAGE_PULL_SECRETS'],
    flag: 'agent-image-pull-secrets',
    schema: z
      .string()
      .transform((text) => text.split(',').flatMap((name) => name.trim() || []))
      .prefault(''),
    description:
      'Names of pull secrets in the namespace of the Jobs (comma-separated). If one is missing, a private registry refuses the pull.',
  }),
  agentServiceAccount: setting({
    env: ['CONTROLLER_SA_NAME', 'SERVICE_ACCOUNT'],
    flag: 'agent-service-account',
    schema: nonBlank().prefault(agentAppName),
    description:
      'ServiceAccount of the agent Pods, which get no token of it. If it does not exist, no Job gets a Pod.',
  }),
  agentPriorityClass: setting({
    env: ['AGENT_PRIORITY_CLASS'],
    flag: 'agent-priority-class',
    schema: nonBlank().optional(),
    description:
      'PriorityClass of the agent Pods. Without it, the default of the cluster. If it does not exist, no Job gets a Pod; Kubernetes admits system-node-critical in kube-system only.',
  }),
  agentSystemBus: setting({
    env: ['AGENT_SYSTEM_BUS'],
    flag: 'agent-system-bus',
    schema: boolean().prefault('false'),
    description:
      'true: agents mount the system bus of the host (/run/dbus), which is as good as root there. NetworkManager then releases a NIC that got an address by DHCP, and adopted configuration (existingConfiguration: Adopt) takes effect at once on nodes with netplan or systemd-networkd. false: such a NIC gets the reason LeasedByHost, or AdoptedAtBoot until the node boots.',
  }),
  agentResources: setting({
    env: ['AGENT_RESOURCES'],
    flag: 'agent-resources',
    schema: agentResources(),
    description:
      'Requests and limits of the agent container as JSON, for namespaces with a LimitRange or a ResourceQuota. Full nodes admit requests of 0 only. With too little memory agents are killed.',
  }),
  jobTtlSeconds: setting({
    env: ['CONTROLLER_JOB_TTL'],
    flag: 'job-ttl',
    schema: integer(360, 604_800).prefault('600'),
    description:
      'Time that a finished Job stays (seconds, at least 360, which is longer than the pause between attempts). If it is long, Jobs and their logs fill the namespace.',
  }),
  startDeadlineMs: setting({
    env: ['CONTROLLER_START_DEADLINE'],
    flag: 'start-deadline',
    schema: duration({ minMs: 30_000 }).prefault('2m'),
    description:
      'Time that an agent has to start, image pull included (duration, at least 30s). After it the controller deletes the Job, reports NotStarted and tries again; if it is too short, slow pulls never finish.',
  }),
  maxInFlight: setting({
    env: ['CONTROLLER_MAX_IN_FLIGHT'],
    flag: 'max-in-flight',
    schema: integerOrPercent(1, 1_000).prefault('20'),
    description:
      'Number of nodes that run an agent at once, or a percentage of the Nodes, at least 1 node. If it is low, large changes take longer; if it is high, a bad change reaches more nodes.',
  }),
  driftPolicy: setting({
    env: ['CONTROLLER_DRIFT_POLICY'],
    flag: 'drift-policy',
    schema: oneOf(['heal', 'report']).prefault('heal'),
    description:
      'heal: apply a node config again if a check finds a difference on the node. report: only set the condition Drifted; the difference stays.',
  }),
  checkIntervalMs: setting({
    env: ['CONTROLLER_CHECK_INTERVAL'],
    flag: 'check-interval',
    schema: duration({ minMs: 300_000 }).optional(),
    description:
      'Time between two checks of a node for drift, ±20 % (duration, at least 5m). Without it, 5 seconds for each node with NICs, at least 15 minutes and at most 6 hours. If it is long, drift stays longer; if it is short, nodes run more agents.',
  }),
  bizConfig: setting({
    env: ['CONTROLLER_BIZ_CONFIG'],
    flag: 'biz-config',
    schema: oneOf(bizConfigModes).prefault('active'),
    description:
      'active: each entry of a MultiNicBizConfig becomes a MultiNicNodeConfig. read-only: objects and status stay, edits are only reported. off: the kind is ignored.',
  }),
  bizConfigGroups: setting({
    env: ['CONTROLLER_BIZ_CONFIG_GROUPS'],
    flag: 'biz-config-groups',
    schema: z
      .string()
      .transform((text) => text.split(',').flatMap((group) => group.trim() || []))
      .pipe(z.array(z.enum(bizConfigGroups)))
      .prefault(businessGroup),
    description: `API groups in which the controller reads MultiNicBizConfigs: ${bizConfigGroups.join(', ')} (comma-separated). If the CRD of a group is not installed, the controller reports it and reads the other one.`,
  }),
  serviceCIDRs: setting({
    env: ['CONTROLLER_SERVICE_CIDRS'],
    flag: 'service-cidrs',
    schema: networks(),
    description:
      'Networks of Services, such as 10.96.0.0/12 (comma-separated). They replace the networks that the controller reads from the cluster. A NIC that overlaps a network is refused; a network missing from this list is not protected.',
  }),
  podNetworks: setting({
    env: ['CONTROLLER_POD_NETWORKS'],
    flag: 'pod-networks',
    schema: networks(),
    description:
      'Networks of Pods, such as 10.244.0.0/16 (comma-separated). They replace the networks that the controller reads from the cluster. A NIC that overlaps a network is refused; a network missing from this list is not protected.',
  }),
  rolloutDomain: setting({
    env: ['CONTROLLER_ROLLOUT_DOMAIN'],
    flag: 'rollout-domain',
    schema: nonBlank().optional(),
    description:
      'Label of Nodes, such as topology.kubernetes.io/zone: a rollout never changes nodes of two values at once. Without it, or for Nodes without the label, a rollout ignores zones.',
  }),
  takeOver: setting({
    env: ['CONTROLLER_TAKE_OVER'],
    flag: 'take-over',
    schema: boolean().prefault('false'),
    description:
      'true: take over the objects of the legacy controller. Set it only after that controller is stopped for good; otherwise both change the same nodes.',
  }),
  listen: setting({
    env: ['LISTEN_ADDR'],
    flag: 'listen',
    schema: address().prefault(':8080'),
    description:
      'Address of /healthz, /readyz and /metrics. If the port is taken, the controller exits; on loopback no probe of the kubelet arrives.',
  }),
  leaseDurationMs: setting({
    env: ['LEASE_DURATION'],
    flag: 'lease-duration',
    schema: duration({ minMs: 1_000 }).prefault('15s'),
    description:
      'Time after which another replica takes over from a leader that is gone (duration, at least 1s). If it is too short, a slow API server costs the leader its lease.',
  }),
  ...removedSettings,
} satisfies Settings;

/** Returns how many Nodes may run an agent at once, at least 1. `nodes`: number of Nodes in the cluster. */
export function limitOf(maxInFlight: number | Percent, nodes: number): number {
  if (typeof maxInFlight === 'number') return maxInFlight;
  return Math.max(1, Math.floor((nodes * Number.parseInt(maxInFlight, 10)) / 100));
}

/** Time that a Job has at least, image pull included. */
const shortestJobMs = 600_000;
/** Time that an agent has for its work after its start deadline. */
const workMs = 480_000;

/** Returns the deadline of a Job in seconds: a long start deadline prolongs it, so that slow image pulls leave time for the work. */
export function jobDeadlineSeconds(startDeadlineMs: number): number {
  return Math.ceil(Math.max(shortestJobMs, startDeadlineMs + workMs) / 1000);
}

/** Returns the settings of agent Jobs. */
export function jobTemplateOf(values: Values<typeof controllerSettings>): JobTemplate {
  return {
    namespace: values.agentNamespace,
    image: values.agentImage,
    imagePullPolicy: values.agentImagePullPolicy,
    imagePullSecrets: values.agentImagePullSecrets,
    serviceAccount: values.agentServiceAccount,
    priorityClass: values.agentPriorityClass,
    systemBus: values.agentSystemBus,
    resources: values.agentResources,
    deadlineSeconds: jobDeadlineSeconds(values.startDeadlineMs),
    ttlSeconds: values.jobTtlSeconds,
  };
}
