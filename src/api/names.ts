/** Names that other systems rely on: API groups, labels, annotations, finalizers, field managers. */

export const managementGroup = 'multinic.example.com';
export const businessGroup = 'multinic.io';
/** Groups in which MultiNicBizConfig is known; the second is that of the legacy sample. */
export const bizConfigGroups = [businessGroup, 'multinic.okestro.io'] as const;
export type BizConfigGroup = (typeof bizConfigGroups)[number];
/** How the controller treats MultiNicBizConfigs: it expands them, only reports their state, or ignores them. */
export const bizConfigModes = ['active', 'read-only', 'off'] as const;
export type BizConfigMode = (typeof bizConfigModes)[number];

export const labels = {
  appName: 'app.kubernetes.io/name',
  managedBy: 'app.kubernetes.io/managed-by',
  component: 'app.kubernetes.io/component',
  partOf: 'app.kubernetes.io/part-of',
  nodeName: 'multinic.io/node-name',
  instanceId: 'multinic.io/instance-id',
  /** On MultiNicNodeConfig objects, and on the Secrets that register business clusters. */
  providerId: 'multinic.io/provider-id',
  configUid: 'multinic.io/config-uid',
  generation: 'multinic.io/generation',
  attempt: 'multinic.io/attempt',
  action: 'multinic.io/action',
  /** On MultiNicNodeConfig: name, as a label value, of the MultiNicBizConfig that it was made from. */
  bizConfig: 'multinic.io/biz-config',
  /** On agent Jobs: the instance id of the node's server. */
  instance: 'instance',
  /** `true` on objects that a MultiNicOperator manages: the admission webhook refuses changes of them. */
  protected: 'multinic.example.com/protected',
  /** On the same objects: name of the MultiNicOperator. */
  managedByOperator: 'multinic.example.com/managed-by-operator',
} as const;

export const agentAppName = 'multinic-agent';
/** Value of `app.kubernetes.io/managed-by` on the Jobs of the deployed Go controller. */
export const legacyControllerName = 'multinic-controller';

export const annotations = {
  reconcileAt: 'multinic.io/reconcile-at',
  forceReconcile: 'multinic.example.com/force-reconcile',
  paused: 'multinic.io/paused',
  allowRemovals: 'multinic.io/allow-removals',
  takeOverFrom: 'multinic.io/take-over-from',
  /** On OpenstackConfig: `namespace/name` of another one that may take its nodes over. */
  handOverTo: 'multinic.io/hand-over-to',
  /** JSON `{namespace, name, uid, generation}` of the OpenstackConfig a MultiNicNodeConfig came from. */
  source: 'multinic.io/source',
  /** Present when the last write through Viola carried a `base`. */
  fenced: 'multinic.io/fenced',
  /** RFC 3339 time of the consent to delete the object, close to the deletion; with `!` it does not wait for its Node either. */
  deleteConsent: 'multinic.io/delete-consent',
  /** The specHash with which NICs may leave the node, written by Viola. */
  removalConsent: 'multinic.io/removal-consent',
  /** JSON `{group, name, uid, generation}` of the MultiNicBizConfig that a MultiNicNodeConfig was made from. */
  bizSource: 'multinic.io/biz-source',
  /** On MultiNicBizConfig: `read-only` keeps its objects and follows no edit. */
  bizConfigMode: 'multinic.io/biz-config-mode',
  /** On MultiNicBizConfig: RFC 3339 time at which its migration to one object per node was started. */
  bizMigration: 'multinic.io/biz-migration',
  /** On MultiNicNodeConfig: a new value, such as a time, continues a rollout that was stopped. */
  rolloutContinue: 'multinic.io/rollout-continue',
  /** On MultiNicNodeConfig, any value: its node is taken over from the deployed controller. */
  takeOver: 'multinic.io/take-over',
  /** On MultiNicNodeConfig: a new value, such as a time, has its node compared with what was applied. */
  check: 'multinic.io/check',
  /** On a Secret that registers a business cluster: the ServiceAccount there whose token it holds, which Viola renews. */
  renewsTokenOf: 'multinic.io/renews-token-of',
  /** On agent Jobs and Pods: `namespace/name` of the MultiNicNodeConfig they work for. */
  config: 'multinic.io/config',
  /** On agent Jobs: hash of what the agent was asked for, so that equal wishes need no second Job. */
  content: 'multinic.io/content',
  /** On agent Jobs: JSON `{nodeUid, machineId, osImage}` of the machine that they were made for. */
  machine: 'multinic.io/machine',
  /** On agent Jobs: of which family's files they are made for (netplan, networkd, keyfile, ifcfg). */
  family: 'multinic.io/family',
  /** On our CustomResourceDefinitions: the number of their schema. */
  schema: 'multinic.io/schema',
  /** On the Secret of the operator's token: RFC 3339 time since which the token is used. */
  tokenSince: 'multinic.io/token-since',
  /** On MultiNicOperator: `latest` or the name of a backup file; each new value restores it once. */
  restore: 'multinic.io/restore',
  /** On MultiNicOperator: each new value replaces both passwords of MariaDB. */
  rotateCredentials: 'multinic.io/rotate-credentials',
  /** On MultiNicOperator: each new value restarts the operator. On Pods: the value they were started with. */
  restartAt: 'multinic.io/restart-at',
  /** On MultiNicOperator: RFC 3339 time until which protection and recovery pause. */
  breakGlass: 'multinic.io/break-glass',
  /** On managed objects: hash of what lifecycle applied last. */
  applied: 'multinic.io/applied',
} as const;

export const finalizers = {
  openstackConfig: 'multinic.example.com/cleanup',
  /** Finalizers of earlier generations, taken over by ours. */
  openstackConfigEarlier: [
    'multinic.example.com/finalizer',
    'multinic.example.com/operator-finalizer',
  ],
  nodeConfig: 'multinic.io/cleanup',
  multiNicOperator: 'multinic.example.com/operator-finalizer',
} as const;

export const fieldManagers = {
  operator: 'multinic-operator',
  /** Of a call of the trigger endpoint. */
  trigger: 'multinic-trigger',
  viola: 'viola',
  controller: 'controller',
  lifecycle: 'lifecycle',
  /** Of the expansion of MultiNicBizConfigs. */
  bizConfig: 'biz-config',
  cli: 'cli',
} as const;

export const namespaces = {
  system: 'multinic-system',
  agents: 'multinic-agents',
  /** Secrets that register business clusters, and nothing else. */
  registrations: 'multinic-clusters',
} as const;

/** Secrets by which the operator and Viola know each other, in the operator's namespace; it keeps them when it is told to. */
export const accessSecrets = {
  authority: 'multinic-ca',
  certificate: 'viola-api-tls',
  token: 'multinic-operator-viola-token',
  grants: 'viola-api-tokens',
} as const;

/** Objects of an installation by a MultiNicOperator, all in the namespace of lifecycle. */
export const managedObjects = {
  /** Deployment of the operator. */
  controller: 'multinic-controller',
  /** ConfigMap with the chart's rendering of the operator. */
  controllerBase: 'multinic-controller-base',
  /** StatefulSet, Service and container of MariaDB. */
  database: 'mariadb',
  databaseClaim: 'mysql-storage-mariadb-0',
  /** CronJob and claim. */
  backup: 'mariadb-backup',
  credentials: 'mariadb-credentials',
  /** ValidatingWebhookConfiguration. */
  protection: 'multinic-protection',
  /** Service of lifecycle's webhook; the chart installs it. */
  webhookService: 'multinic-operator-webhook',
  /** Secrets of the webhook's certificate authority and certificate. */
  webhookAuthority: 'multinic-webhook-ca',
  webhookCertificate: 'multinic-webhook-tls',
  /** Deployment of the operator in the legacy system. */
  legacyController: 'multinic-controller-manager',
} as const;

/** Key of the operator's own grants in `accessSecrets.grants`; every other key is somebody else's. */
export const ownGrantsKey = 'operator.yaml';

/** The Service of Viola, in the operator's namespace. */
export const violaService = 'viola-api';

/** Highest index of a managed NIC; a node has at most ten, multinic0 to multinic9. */
export const maxIndex = 9;

/** Kernel name of the NIC with this index. */
export function interfaceName(index: number): string {
  return `multinic${index}`;
}

/** Index in a name of the form `multinicN`, whatever N is; undefined for any other name. */
export function indexOfName(name: string): number | undefined {
  const digits = /^multinic([0-9]{1,9})$/.exec(name.trim())?.[1];
  return digits === undefined ? undefined : Number(digits);
}

/** Routing table and route metric of the NIC with this index. */
export function routingTable(index: number): number {
  return 100 + index;
}

/** Priority of the policy rules of the NIC with this index. */
export function rulePriority(index: number): number {
  return 10_100 + index;
}
