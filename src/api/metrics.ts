import { controllerMetrics } from './metrics/controller.ts';
import { lifecycleMetrics } from './metrics/lifecycle.ts';

/** All metrics; the metrics reference in the docs is generated from this table. */
export const metricTable = {
  multinic_build_info: {
    type: 'gauge',
    help: '1; which part this process is, and of which version and commit.',
    lookFor: 'More than one version among all parts once an upgrade is over.',
    labels: ['part', 'version', 'commit'],
  },
  multinic_heap_limit_bytes: {
    type: 'gauge',
    help: 'What the JavaScript heap of this process may grow to; it ends when it needs more.',
    lookFor:
      'The least of nodejs_heap_size_used_bytes in half an hour near it: too many objects for the limit.',
    labels: ['part'],
  },
  multinic_reconcile_total: {
    type: 'counter',
    help: 'Finished reconciles by controller, result (success; error: it could not be ended) and status (how the object is then: success, error, deleted, deletion_error, or reconcile_error as the result says).',
    lookFor: 'Errors that go on rising: the log names the object, its status the reason.',
    labels: ['controller', 'result', 'status'],
  },
  multinic_reconcile_duration_seconds: {
    type: 'histogram',
    help: 'Seconds that one reconcile took.',
    lookFor: 'The top bucket filling: something that is waited for hangs.',
    labels: ['controller'],
    buckets: [0.01, 0.05, 0.1, 0.5, 1, 2, 5, 10, 30, 60],
  },
  multinic_queue_depth: {
    type: 'gauge',
    help: 'Keys that wait to be reconciled.',
    lookFor:
      'Above the number of objects, or rising for minutes: work comes faster than it is done, or workers hang.',
    labels: ['controller'],
  },
  multinic_leader: {
    type: 'gauge',
    help: '1 while this process leads, else 0.',
    lookFor: 'The sum over all replicas is not 1 for longer than the lease lasts.',
    labels: ['lease'],
  },
  multinic_openstack_requests_total: {
    type: 'counter',
    help: 'HTTP requests to OpenStack and Contrabass by service, operation (such as ports.list) and status (0: no answer).',
    lookFor:
      'Status 0, 401 or 5xx rising: unreachable, a revoked account, or OpenStack in trouble.',
    labels: ['service', 'operation', 'status'],
  },
  multinic_cache_lookups_total: {
    type: 'counter',
    help: 'What was looked up in what is remembered of clouds, by cache (providers, tokens, subnets, subnet_names, networks, servers) and result (hit, miss).',
    lookFor:
      'Misses that rise as fast as hits: something is asked for anew at each look, such as a subnet that does not exist.',
    labels: ['cache', 'result'],
  },
  multinic_cloud_look_age_seconds: {
    type: 'gauge',
    help: 'Seconds since an OpenStack (by the URL of its Keystone) was last read completely for an OpenstackConfig, by the process that leads; the hundred oldest.',
    lookFor:
      'More than an hour while the trigger mode is immediate: what is new in that cloud is not seen.',
    labels: ['cloud'],
  },
  multinic_openstack_request_duration_seconds: {
    type: 'histogram',
    help: 'Seconds until the answer of OpenStack or Contrabass was read.',
    lookFor: 'A high quantile near the time-out: OpenStack hangs rather than fails.',
    labels: ['operation', 'status'],
    buckets: [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
  },
  multinic_notifications_connected: {
    type: 'gauge',
    help: '1 while the operator listens to this message queue of an OpenStack, else 0.',
    lookFor:
      'At 0 for minutes: the condition Notifications says why; changes are found by polling meanwhile.',
    labels: ['broker'],
  },
  multinic_notifications_total: {
    type: 'counter',
    help: 'Messages of OpenStack by what they were: a happening that is looked at, other, unreadable.',
    lookFor:
      'None at all for hours: Neutron publishes elsewhere, or nothing. Unreadable ones: another driver than messagingv2.',
    labels: ['broker', 'result'],
  },
  multinic_notification_lag_seconds: {
    type: 'histogram',
    help: 'Seconds from when OpenStack sent a message until it was read.',
    lookFor: 'A high quantile above some seconds: a slow message queue, or clocks that differ.',
    labels: ['broker'],
    buckets: [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
  },
  multinic_openstack_configs_not_ready: {
    type: 'gauge',
    help: 'OpenstackConfigs that are not Ready, by reason; one that has several counts for each.',
    lookFor: 'A reason that stays: the table of reasons says what to do about it.',
    labels: ['reason'],
  },
  multinic_delivered_nodes: {
    type: 'gauge',
    help: 'Nodes of all OpenstackConfigs by the state that their business clusters show (Pending, InProgress, Configured, Failed), as the last looks found them.',
    lookFor: 'Failed above 0, and Pending or InProgress that stays.',
    labels: ['state'],
  },
  multinic_delivered_interfaces: {
    type: 'gauge',
    help: 'NICs of all OpenstackConfigs by the state that their business clusters show, as the last looks found them.',
    lookFor: 'Failed above 0, and Pending that stays: no agent comes to that node.',
    labels: ['state'],
  },
  multinic_removals_held: {
    type: 'gauge',
    help: 'NICs whose removal is held back until somebody agrees, by OpenstackConfig; the hundred with the most.',
    lookFor: 'Any: the status of the OpenstackConfig says why, and what to do.',
    labels: ['config_namespace', 'config'],
  },
  multinic_database_operation_duration_seconds: {
    type: 'histogram',
    help: 'Seconds that the operator waited for the database of the inventory, by operation (authors, nics, nodes, record) and status (success, error).',
    lookFor: 'A high quantile near 3 s, where it is given up: a database that hangs.',
    labels: ['operation', 'status'],
    buckets: [0.001, 0.005, 0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
  },
  multinic_active_db_connections: {
    type: 'gauge',
    help: 'Connections to the database of the inventory that are in use.',
    lookFor: 'Above 0 all the time: statements that do not end.',
    labels: [],
  },
  multinic_inventory_calls_total: {
    type: 'counter',
    help: 'Reads and writes of the database of the inventory by the operator, by result (success, error).',
    lookFor:
      'Errors that go on, whatever succeeds beside them: NICs are delivered all the same, deletions wait.',
    labels: ['result'],
  },
  multinic_nodes_delivered_total: {
    type: 'counter',
    help: 'Nodes posted to or deleted from Viola, by result (created, updated, unchanged, deleted, error).',
    lookFor: 'Errors without any success for one provider: its Viola or cluster is out of reach.',
    labels: ['provider', 'result'],
  },
  multinic_http_requests_total: {
    type: 'counter',
    help: 'HTTP requests answered, by route and status.',
    lookFor:
      'Status 401 and 403: a caller whose token was not renewed; 429 and 503: more callers than slots.',
    labels: ['server', 'method', 'route', 'status'],
  },
  multinic_http_request_duration_seconds: {
    type: 'histogram',
    help: 'Seconds until the answer was sent.',
    lookFor: 'A rising high quantile of one route: what stands behind it is slow.',
    labels: ['server', 'method', 'route'],
    buckets: [0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30],
  },
  multinic_trigger_config_usable: {
    type: 'gauge',
    help: '1 while the ConfigMap multinic-operator-triggers can be used or is not there, else 0.',
    lookFor:
      '0: what held before goes on; the log and an Event on the ConfigMap say what is wrong.',
    labels: [],
  },
  multinic_trigger_mode: {
    type: 'gauge',
    help: '1 for the mode that says what may start a look (immediate, scheduled, manual, webhook).',
    lookFor: 'Another mode than was meant: nothing is polled unless it is immediate.',
    labels: ['mode'],
  },
  multinic_token_file_usable: {
    type: 'gauge',
    help: '1 while the token file of the server, or every file of the folder, can be used. At 0 nobody whom the broken ones name gets in after half a minute.',
    lookFor: '0: a file cannot be used, and its callers are known by what it held before.',
    labels: ['server'],
  },
  multinic_legacy_listener: {
    type: 'gauge',
    help: '1 while Viola takes node configs without a token (--legacy-listener), else 0.',
    lookFor: '1 after the deployed operator is gone: nobody needs it any more.',
    labels: [],
  },
  multinic_viola_certificate_expiry_timestamp_seconds: {
    type: 'gauge',
    help: 'When a certificate ends (Unix time): ca and server as the leading operator keeps them (--viola-tls managed), served as Viola shows it.',
    lookFor:
      'served less than a week away: nobody renews it, and after its end the operator refuses Viola.',
    labels: ['certificate'],
  },
  multinic_viola_access_renewal_timestamp_seconds: {
    type: 'gauge',
    help: 'When the leading operator renews the certificate or the token next (Unix time).',
    lookFor: 'In the past for more than an hour: renewing fails, and the log says why.',
    labels: ['what'],
  },
  multinic_viola_access_failures_total: {
    type: 'counter',
    help: 'Looks at a Secret of the access to Viola after which it could not be kept; there is one a minute.',
    lookFor: 'Any that go on: the Event and the log name the Secret and what to do.',
    labels: ['secret'],
  },
  multinic_queue_adds_total: {
    type: 'counter',
    help: 'Keys made ready, by a change or because their time had come.',
    lookFor: 'A rate far above that of changes: something writes in a loop.',
    labels: ['controller'],
  },
  multinic_queue_retries_total: {
    type: 'counter',
    help: 'Keys that come again after a failure.',
    lookFor: 'A rate that does not fall: the same objects fail again and again.',
    labels: ['controller'],
  },
  multinic_queue_latency_seconds: {
    type: 'histogram',
    help: 'Seconds that a key was ready before a worker took it.',
    lookFor: 'A high quantile of more than seconds: too few workers, or workers that hang.',
    labels: ['controller'],
    buckets: [0.001, 0.01, 0.1, 0.5, 1, 5, 10, 30, 60, 300],
  },
  multinic_active_workers: {
    type: 'gauge',
    help: 'Keys that are being worked on.',
    lookFor: 'All workers busy while the depth rises.',
    labels: ['controller'],
  },
  multinic_unfinished_work_seconds: {
    type: 'gauge',
    help: 'Seconds that all keys being worked on have taken so far, together.',
    lookFor: 'Rising without a fall: work that does not end.',
    labels: ['controller'],
  },
  multinic_longest_running_seconds: {
    type: 'gauge',
    help: 'Seconds that the key has taken that is being worked on for the longest time.',
    lookFor: 'Above the longest time-out (30 s): a worker hangs.',
    labels: ['controller'],
  },
  multinic_kube_requests_total: {
    type: 'counter',
    help: 'Requests to Kubernetes API servers by verb (WATCH: a stream was opened) and status (0: no answer).',
    lookFor:
      'Status 0 (out of reach), 401 and 403 (rights), 429 (throttled), 409 that goes on (two writers).',
    labels: ['verb', 'status'],
  },
  multinic_kube_request_duration_seconds: {
    type: 'histogram',
    help: 'Seconds until the answer of the API server was read.',
    lookFor: 'A high quantile above 5 s: leases are lost then.',
    labels: ['verb'],
    buckets: [0.005, 0.01, 0.05, 0.1, 0.5, 1, 2.5, 5, 10, 30],
  },
  multinic_reflector_steps_total: {
    type: 'counter',
    help: 'Lists and watches of a kind that ended, by result; DeployedJob and DeployedPod are those of the deployed controller.',
    lookFor: 'Errors that rise without any success: what is known of this kind grows old.',
    labels: ['kind', 'what', 'result'],
  },
  multinic_reflector_silence_seconds: {
    type: 'gauge',
    help: 'Seconds since the API server was last heard about a kind; DeployedJob and DeployedPod are those of the deployed controller.',
    lookFor: 'Above 60: the process works with what it knew then.',
    labels: ['kind'],
  },
  multinic_lease_renewal_duration_seconds: {
    type: 'histogram',
    help: 'Seconds that a renewal of the lease took, by result.',
    lookFor: 'Near a third of the lease: leadership will be lost next; any errors.',
    labels: ['lease', 'result'],
    buckets: [0.005, 0.05, 0.1, 0.5, 1, 2, 3, 4, 5, 10],
  },
  multinic_rights_missing: {
    type: 'gauge',
    help: 'Rights that the part needs in its own cluster and does not have.',
    lookFor: 'Above 0: the log names each right, its role and the command that adds it.',
    labels: [],
  },
  multinic_cluster_rights_missing: {
    type: 'gauge',
    help: 'Rights that Viola needs in a business cluster and does not have.',
    lookFor: 'Above 0: the log of Viola names each right; nodes of this provider are not written.',
    labels: ['provider'],
  },
  multinic_crd_schema_behind: {
    type: 'gauge',
    help: 'How many changes of its schema the installed CustomResourceDefinition is behind this version; below 0: ahead.',
    lookFor:
      'Above 0: fields are dropped in silence until the definitions of this version are applied.',
    labels: ['crd'],
  },
  ...lifecycleMetrics,
  ...controllerMetrics,
} as const;
