/** Names used by other systems: API groups, labels, annotations, finalizers, field managers. */

export const managementGroup = 'multinic.example.com';
export const businessGroup = 'multinic.io';
/** API groups for MultiNicBizConfig; the second is from the legacy sample. */
export const bizConfigGroups = [businessGroup, 'multinic.okestro.io'] as const;
export type BizConfigGroup = (typeof bizConfigGroups)[number];
/** Controller modes for MultiNicBizConfigs: expand, only report state, or ignore. */
export const bizConfigModes = ['active', 'read-only', 'off'] as const;
export type BizConfigMode = (typeof bizConfigModes)[number];

export const labels = {
  appName: 'app.kubernetes.io/name',
  managedBy: 'app.kubernetes.io/managed-by',
  component: 'app.kubernetes.io/component',
  partOf: 'app.kubernetes.io/part-of',
  nodeName: 'multinic.io/node-name',
  instanceId: 'multinic.io/instance-id',
  /** On MultiNicNodeConfigs, and on Secrets that register business clusters. */
  providerId: 'multinic.io/provider-id',
  configUid: 'multinic.io/config-uid',
  generation: 'multinic.io/generation',
  attempt: 'multinic.io/attempt',
  action: 'multinic.io/action',
  /** On MultiNicNodeConfigs: name (as label value) of the source MultiNicBizConfig. */
  bizConfig: 'multinic.io/biz-config',
  /** On agent Jobs: instance id of the node's server. */
  instance: 'instance',
  /** `true` on objects managed by a MultiNicOperator: the admission webhook refuses their changes. */
  protected: 'multinic.example.com/protected',
  /** On managed objects: name of the MultiNicOperator. */
  managedByOperator: 'multinic.example.com/managed-by-operator',
} as const;

/** Namespace that every cluster has, never recreated: its uid identifies the cluster. */
export const identityNamespace = 'kube-system';

export const agentAppName = 'multinic-agent';
/** Value of `app.kubernetes.io/managed-by` on the legacy controller's Jobs. */
export const legacyControllerName = 'multinic-controller';

export const annotations = {
  reconcileAt: 'multinic.io/reconcile-at',
  forceReconcile: 'multinic.example.com/force-reconcile',
  paused: 'multinic.io/paused',
  allowRemovals: 'multinic.io/allow-removals',
  takeOverFrom: 'multinic.io/take-over-from',
  /** On OpenstackConfigs: `namespace/name` of the OpenstackConfig that may take the nodes over. */
  handOverTo: 'multinic.io/hand-over-to',
  /** JSON `{namespace, name, uid, generation}` of the source OpenstackConfig. */
  source: 'multinic.io/source',
  /** Set when Viola's last write carried a `base`. */
  fenced: 'multinic.io/fenced',
  /**
   * RFC 3339 time of the deletion consent, close to the deletion; with `!` the deletion does not wait for the Node.
   */
  deleteConsent: 'multinic.io/delete-consent',
  /** specHash for which NICs may be removed from the node, written by Viola. */
  removalConsent: 'multinic.io/removal-consent',
  /** JSON `{group, name, uid, generation}` of the source MultiNicBizConfig. */
  bizSource: 'multinic.io/biz-source',
  /** On MultiNicBizConfigs: `read-only` keeps the objects and ignores edits. */
  bizConfigMode: 'multinic.io/biz-config-mode',
  /** On MultiNicBizConfigs: RFC 3339 start time of the migration to one object per node. */
  bizMigration: 'multinic.io/biz-migration',
  /** On MultiNicNodeConfigs: a new value, such as a time, continues a stopped rollout. */
  rolloutContinue: 'multinic.io/rollout-continue',
  /** On MultiNicNodeConfigs, any value: takes the node over from the legacy controller. */
  takeOver: 'multinic.io/take-over',
  /** On MultiNicNodeConfigs: a new value, such as a time, compares the node with the applied state. */
  check: 'multinic.io/check',
  /** On MultiNicNodeConfigs: a new value checks the node and applies drift once, with any drift policy. */
  heal: 'multinic.io/heal',
  /** On OpenstackConfigs: JSON `{id, nodes, heal?}`; a new id checks these nodes. */
  checkNodes: 'multinic.io/check-nodes',
  /** On registration Secrets: ServiceAccount in the business cluster whose token Viola renews in this Secret. */
  renewsTokenOf: 'multinic.io/renews-token-of',
  /** On agent Jobs and Pods: `namespace/name` of their MultiNicNodeConfig. */
  config: 'multinic.io/config',
  /** On agent Jobs: request hash, so that equal requests need no second Job. */
  content: 'multinic.io/content',
  /** On agent Jobs: JSON `{nodeUid, machineId, osImage}` of the target machine. */
  machine: 'multinic.io/machine',
  /** On agent Jobs: network manager whose folders are mounted (netplan, networkd, keyfile, ifcfg). */
  family: 'multinic.io/family',
  /** On our CustomResourceDefinitions: schema number. */
  schema: 'multinic.io/schema',
  /** On the operator's token Secret: RFC 3339 time since which the token is in use. */
  tokenSince: 'multinic.io/token-since',
  /** On MultiNicOperators: `latest` or a backup file name; each new value restores once. */
  restore: 'multinic.io/restore',
  /** On MultiNicOperators: each new value replaces both MariaDB passwords. */
  rotateCredentials: 'multinic.io/rotate-credentials',
  /** On MultiNicOperators: each new value restarts the operator. On Pods: value at their start. */
  restartAt: 'multinic.io/restart-at',
  /** On MultiNicOperators: RFC 3339 time until which protection and recovery pause. */
  breakGlass: 'multinic.io/break-glass',
  /** On MariaDB's claim: JSON of the operation on the database, and of a restore that failed. */
  operation: 'multinic.io/operation',
  /** On the backups' claim: uid of MariaDB's claim. */
  databaseVolume: 'multinic.io/database-volume',
  /** On Jobs of an operation: the request, such as the new image. */
  operationRequest: 'multinic.io/operation-request',
  /** On managed objects: hash of lifecycle's last apply. */
  applied: 'multinic.io/applied',
} as const;

export const finalizers = {
  openstackConfig: 'multinic.example.com/cleanup',
  /** Finalizers from earlier generations, replaced by ours. */
  openstackConfigEarlier: [
    'multinic.example.com/finalizer',
    'multinic.example.com/operator-finalizer',
  ],
  nodeConfig: 'multinic.io/cleanup',
  multiNicOperator: 'multinic.example.com/operator-finalizer',
} as const;

export const fieldManagers = {
  operator: 'multinic-operator',
  /** Used by the trigger endpoint. */
  trigger: 'multinic-trigger',
  viola: 'viola',
  controller: 'controller',
  lifecycle: 'lifecycle',
  /** Of annotation `multinic.io/operation` only: an apply by `lifecycle` leaves it. */
  lifecycleOperation: 'lifecycle-operation',
  /** Used by the MultiNicBizConfig expansion. */
  bizConfig: 'biz-config',
  cli: 'cli',
} as const;

export const namespaces = {
  system: 'multinic-system',
  agents: 'multinic-agents',
  /** Contains only Secrets that register business clusters. */
  registrations: 'multinic-clusters',
} as const;

/**
 * Secrets for mutual authentication between operator and Viola, in the operator's namespace; maintained by the
 * operator in mode `managed`.
 */
export const accessSecrets = {
  authority: 'multinic-ca',
  certificate: 'viola-api-tls',
  token: 'multinic-operator-viola-token',
  grants: 'viola-api-tokens',
} as const;

/** Objects installed by a MultiNicOperator, all in lifecycle's namespace. */
export const managedObjects = {
  /** Operator Deployment. */
  controller: 'multinic-controller',
  /** ConfigMap with the chart's rendered operator. */
  controllerBase: 'multinic-controller-base',
  /** MariaDB's StatefulSet, Service and container. */
  database: 'mariadb',
  databaseClaim: 'mysql-storage-mariadb-0',
  /** CronJob and volume claim. */
  backup: 'mariadb-backup',
  credentials: 'mariadb-credentials',
  /** ValidatingWebhookConfiguration. */
  protection: 'multinic-protection',
  /** Service for lifecycle's webhook, installed by the chart. */
  webhookService: 'multinic-operator-webhook',
  /** Secrets with the webhook's certificate authority and certificate. */
  webhookAuthority: 'multinic-webhook-ca',
  webhookCertificate: 'multinic-webhook-tls',
  /** Operator Deployment in the legacy system. */
  legacyController: 'multinic-controller-manager',
} as const;

/** Key for the operator's own grants in `accessSecrets.grants`; all other keys are foreign. */
export const ownGrantsKey = 'operator.yaml';

/** Viola's Service in the operator's namespace. */
export const violaService = 'viola-api';

/** The leading operator's Lease, in the operator's namespace. */
export const operatorLease = 'multinic-operator';

/** Highest index for a managed NIC; a node has at most ten, multinic0 to multinic9. */
export const maxIndex = 9;

/** Returns the kernel name for an index. */
export function interfaceName(index: number): string {
  return `multinic${index}`;
}

/** Returns N in a name `multinicN`, also beyond the maximum; undefined for any other name. */
export function indexOfName(name: string): number | undefined {
  const digits = /^multinic([0-9]{1,9})$/.exec(name.trim())?.[1];
  return digits === undefined ? undefined : Number(digits);
}

/** Returns the routing table and route metric for an index. */
export function routingTable(index: number): number {
  return 100 + index;
}

/** Returns the policy rule priority for an index. */
export function rulePriority(index: number): number {
  return 10_100 + index;
}
