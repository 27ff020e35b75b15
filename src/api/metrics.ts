import { controllerMetrics } from './metrics/controller.ts';
import { lifecycleMetrics } from './metrics/lifecycle.ts';

/** All metrics; the metrics reference in the docs is generated from this table. */
export const metricTable = {
  multinic_build_info: {
    type: 'gauge',
    help: 'Always 1; the labels have part, version and commit of this process.',
    lookFor: 'More than one version after an upgrade has finished.',
    labels: ['part', 'version', 'commit'],
  },
  multinic_heap_limit_bytes: {
    type: 'gauge',
    help: 'Maximum size of the JavaScript heap; the process ends when it needs more.',
    lookFor:
      'Near the minimum of nodejs_heap_size_used_bytes over 30 minutes: too many objects for the limit.',
    labels: ['part'],
  },
  multinic_reconcile_total: {
    type: 'counter',
    help: 'Finished reconciles by controller, result (success; error: the reconcile failed) and status of the object afterwards (success, error, deleted, deletion_error; reconcile_error with result error).',
    lookFor: 'Errors that keep rising: the log names the object, its status has the reason.',
    labels: ['controller', 'result', 'status'],
  },
  multinic_reconcile_duration_seconds: {
    type: 'histogram',
    help: 'Duration of a reconcile in seconds.',
    lookFor: 'Values in the top bucket: a call in the reconcile hangs.',
    labels: ['controller'],
    buckets: [0.01, 0.05, 0.1, 0.5, 1, 2, 5, 10, 30, 60],
  },
  multinic_queue_depth: {
    type: 'gauge',
    help: 'Keys that wait for a reconcile.',
    lookFor:
      'Above the number of objects, or rising for minutes: too few workers, or workers hang.',
    labels: ['controller'],
  },
  multinic_leader: {
    type: 'gauge',
    help: '1 while this process is the leader, else 0.',
    lookFor: 'The sum over all replicas is not 1 for longer than the lease duration.',
    labels: ['lease'],
  },
  multinic_openstack_requests_total: {
    type: 'counter',
    help: 'HTTP requests to OpenStack and Contrabass by service, operation (such as ports.list) and status (0: no answer).',
    lookFor:
      'Rising status 0, 401 or 5xx: the service is unreachable, refuses the account, or fails.',
    labels: ['service', 'operation', 'status'],
  },
  multinic_cache_lookups_total: {
    type: 'counter',
    help: 'Lookups in the caches of cloud data, by cache (providers, tokens, subnets, subnet_names, networks, servers) and result (hit, miss).',
    lookFor:
      'Misses that rise as fast as hits: a request is repeated at each sync, for example for a subnet that does not exist.',
    labels: ['cache', 'result'],
  },
  multinic_cloud_look_age_seconds: {
    type: 'gauge',
    help: 'Seconds since the leader last read an OpenStack cloud (by Keystone URL) completely for an OpenstackConfig; the 100 oldest.',
    lookFor: 'More than an hour in trigger mode immediate: changes in that cloud are not noticed.',
    labels: ['cloud'],
  },
  multinic_openstack_request_duration_seconds: {
    type: 'histogram',
    help: 'Duration of a request to OpenStack or Contrabass in seconds, until the response was read.',
    lookFor: 'A high quantile near the timeout: the service hangs.',
    labels: ['operation', 'status'],
    buckets: [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
  },
  multinic_notifications_connected: {
    type: 'gauge',
    help: '1 while the operator receives notifications from this OpenStack message queue, else 0.',
    lookFor:
      '0 for minutes: the condition Notifications has the cause; the operator finds changes by polling meanwhile.',
    labels: ['broker'],
  },
  multinic_notifications_total: {
    type: 'counter',
    help: 'Messages of OpenStack by result: happening (a change that the operator uses), other, unreadable.',
    lookFor:
      'No messages for hours: Neutron publishes to another queue, or does not publish. Unreadable messages: the driver is not messagingv2.',
    labels: ['broker', 'result'],
  },
  multinic_notification_lag_seconds: {
    type: 'histogram',
    help: 'Seconds between sending and reading of an OpenStack message.',
    lookFor: 'A high quantile above some seconds: the message queue is slow, or clocks differ.',
    labels: ['broker'],
    buckets: [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
  },
  multinic_openstack_configs_not_ready: {
    type: 'gauge',
    help: 'OpenstackConfigs that are not Ready, by reason; an OpenstackConfig with several reasons counts for each.',
    lookFor: 'A reason that stays: see its action in the table of reasons.',
    labels: ['reason'],
  },
  multinic_openstack_configs_nics_not_ready: {
    type: 'gauge',
    help: 'OpenstackConfigs whose condition NICsReady is not True, by reason.',
    lookFor: 'NICsNotConfigured that stays: planned NICs do not work on their nodes.',
    labels: ['reason'],
  },
  multinic_delivered_nodes: {
    type: 'gauge',
    help: 'Nodes of all OpenstackConfigs by business cluster and state (Pending, InProgress, Configured, Failed, Observed), as of the last syncs.',
    lookFor: 'Failed above 0, and Pending or InProgress that stays.',
    labels: ['provider', 'state'],
  },
  multinic_delivered_interfaces: {
    type: 'gauge',
    help: 'NICs of all OpenstackConfigs by business cluster and state, as of the last syncs.',
    lookFor: 'Failed above 0, and Pending that stays: no agent runs on that node.',
    labels: ['provider', 'state'],
  },
  multinic_removals_held: {
    type: 'gauge',
    help: 'NICs whose removal waits for consent, by OpenstackConfig; the 100 with the most.',
    lookFor: 'Any value: the status of the OpenstackConfig has the cause and the action.',
    labels: ['config_namespace', 'config'],
  },
  multinic_database_operation_duration_seconds: {
    type: 'histogram',
    help: 'Duration of a call to the inventory database in seconds, by operation (authors, nics, nodes, record) and status (success, error).',
    lookFor: 'A high quantile near 3 s, the timeout: the database hangs.',
    labels: ['operation', 'status'],
    buckets: [0.001, 0.005, 0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
  },
  multinic_active_db_connections: {
    type: 'gauge',
    help: 'Connections to the inventory database in use.',
    lookFor: 'Constantly above 0: statements hang.',
    labels: [],
  },
  multinic_inventory_calls_total: {
    type: 'counter',
    help: 'Reads and writes of the inventory database by the operator, by result (success, error).',
    lookFor:
      'Errors that keep rising, also beside successes: NICs are still delivered, but deletions wait.',
    labels: ['result'],
  },
  multinic_nodes_delivered_total: {
    type: 'counter',
    help: 'Nodes posted to or deleted from Viola, by result (created, updated, unchanged, deleted, error).',
    lookFor: 'Errors without any success for one provider: its Viola or cluster is unreachable.',
    labels: ['provider', 'result'],
  },
  multinic_http_requests_total: {
    type: 'counter',
    help: 'Answered HTTP requests by route and status.',
    lookFor:
      'Status 401 and 403: the token of a caller was not renewed; 429 and 503: too many concurrent callers.',
    labels: ['server', 'method', 'route', 'status'],
  },
  multinic_http_request_duration_seconds: {
    type: 'histogram',
    help: 'Duration of an HTTP request in seconds, until the response was sent.',
    lookFor: 'A rising high quantile of one route: its backend is slow.',
    labels: ['server', 'method', 'route'],
    buckets: [0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30],
  },
  multinic_trigger_config_usable: {
    type: 'gauge',
    help: '1 while the ConfigMap multinic-operator-triggers can be used or does not exist, else 0.',
    lookFor:
      '0: the previous configuration stays in effect, after a restart mode manual; the log and an Event on the ConfigMap name the error.',
    labels: [],
  },
  multinic_trigger_mode: {
    type: 'gauge',
    help: '1 for the current trigger mode (immediate, scheduled, manual, webhook), else 0.',
    lookFor: 'An unexpected mode: the operator polls in mode immediate only.',
    labels: ['mode'],
  },
  multinic_token_file_usable: {
    type: 'gauge',
    help: '1 while the token file of the server, or every file in the folder, can be used, else 0. After 30 s at 0, the server refuses the callers in the unusable files.',
    lookFor: '0: a file cannot be used; its callers are accepted for 30 s, then refused.',
    labels: ['server'],
  },
  multinic_legacy_listener: {
    type: 'gauge',
    help: '1 while Viola accepts node configs without a token (--legacy-listener), else 0.',
    lookFor: '1 after the legacy operator is removed: unset --legacy-listener.',
    labels: [],
  },
  multinic_viola_certificate_expiry_timestamp_seconds: {
    type: 'gauge',
    help: 'Expiry of a certificate (Unix time): ca and server in the Secrets of the leading operator (--viola-tls managed), served by Viola.',
    lookFor:
      'served less than a week away: it is not renewed, and after its expiry the operator refuses Viola.',
    labels: ['certificate'],
  },
  multinic_viola_access_renewal_timestamp_seconds: {
    type: 'gauge',
    help: 'Next renewal of the certificate or the token by the leading operator (Unix time).',
    lookFor: 'In the past for more than an hour: the renewal fails, and the log has the cause.',
    labels: ['what'],
  },
  multinic_viola_access_failures_total: {
    type: 'counter',
    help: 'Failed checks of a Secret for the access to Viola; the operator checks once a minute.',
    lookFor: 'Failures that continue: the Event and the log name the Secret and the action.',
    labels: ['secret'],
  },
  multinic_queue_adds_total: {
    type: 'counter',
    help: 'Keys added to the queue, by a change or a timer.',
    lookFor: 'A rate far above that of changes: a client writes in a loop.',
    labels: ['controller'],
  },
  multinic_queue_retries_total: {
    type: 'counter',
    help: 'Keys queued again after a failure.',
    lookFor: 'A rate that does not fall: the same objects fail again and again.',
    labels: ['controller'],
  },
  multinic_queue_latency_seconds: {
    type: 'histogram',
    help: 'Seconds that a key waited in the queue for a worker.',
    lookFor: 'A high quantile above some seconds: too few workers, or workers hang.',
    labels: ['controller'],
    buckets: [0.001, 0.01, 0.1, 0.5, 1, 5, 10, 30, 60, 300],
  },
  multinic_active_workers: {
    type: 'gauge',
    help: 'Keys being reconciled now.',
    lookFor: 'All workers busy while multinic_queue_depth rises.',
    labels: ['controller'],
  },
  multinic_unfinished_work_seconds: {
    type: 'gauge',
    help: 'Total seconds so far of all reconciles that are running.',
    lookFor: 'Rising steadily: a reconcile hangs.',
    labels: ['controller'],
  },
  multinic_longest_running_seconds: {
    type: 'gauge',
    help: 'Seconds so far of the longest running reconcile.',
    lookFor: 'Above the longest timeout (30 s): a worker hangs.',
    labels: ['controller'],
  },
  multinic_kube_requests_total: {
    type: 'counter',
    help: 'Requests to Kubernetes API servers by verb (WATCH: a stream was opened) and status (0: no answer).',
    lookFor:
      'Status 0 (unreachable), 401 and 403 (rights), 429 (throttled), 409 that continues (two writers).',
    labels: ['verb', 'status'],
  },
  multinic_kube_request_duration_seconds: {
    type: 'histogram',
    help: 'Duration of a request to the API server in seconds, until the response was read.',
    lookFor: 'A high quantile above 5 s: leases may be lost.',
    labels: ['verb'],
    buckets: [0.005, 0.01, 0.05, 0.1, 0.5, 1, 2.5, 5, 10, 30],
  },
  multinic_reflector_steps_total: {
    type: 'counter',
    help: 'Ended lists and watches of a kind, by result; DeployedJob and DeployedPod belong to the legacy controller.',
    lookFor: 'Rising errors without any success: the cached objects of this kind are outdated.',
    labels: ['kind', 'what', 'result'],
  },
  multinic_reflector_silence_seconds: {
    type: 'gauge',
    help: 'Seconds since the API server last answered about a kind; DeployedJob and DeployedPod belong to the legacy controller.',
    lookFor: 'Above 60: the process works with outdated objects.',
    labels: ['kind'],
  },
  multinic_lease_renewal_duration_seconds: {
    type: 'histogram',
    help: 'Duration of a lease renewal in seconds, by result.',
    lookFor: 'Near a third of the lease duration: leadership may be lost; any errors.',
    labels: ['lease', 'result'],
    buckets: [0.005, 0.05, 0.1, 0.5, 1, 2, 3, 4, 5, 10],
  },
  multinic_rights_missing: {
    type: 'gauge',
    help: 'RBAC rights that the process needs in its own cluster and does not have.',
    lookFor: 'Above 0: the log names each right, its role and the command that adds the right.',
    labels: [],
  },
  multinic_cluster_rights_missing: {
    type: 'gauge',
    help: 'RBAC rights that Viola needs in a business cluster and does not have.',
    lookFor:
      'Above 0: the log of Viola names each right; node configs of this provider are not written.',
    labels: ['provider'],
  },
  multinic_crd_schema_behind: {
    type: 'gauge',
    help: 'Number of schema changes that the installed CRD lacks compared with this version; below 0: the CRD is newer.',
    lookFor:
      'Above 0: the API server drops fields without an error until the CRDs of this version are applied.',
    labels: ['crd'],
  },
  ...lifecycleMetrics,
  ...controllerMetrics,
} as const;
