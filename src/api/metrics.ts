/** Every metric of the product; the reference in the docs is generated from this table. */
export const metricTable = {
  multinic_reconcile_total: {
    type: 'counter',
    help: 'Finished reconciles by controller and result (success, error).',
    labels: ['controller', 'result'],
  },
  multinic_reconcile_duration_seconds: {
    type: 'histogram',
    help: 'Seconds that one reconcile took.',
    labels: ['controller'],
    buckets: [0.01, 0.05, 0.1, 0.5, 1, 2, 5, 10, 30, 60],
  },
  multinic_queue_depth: {
    type: 'gauge',
    help: 'Keys that wait to be reconciled.',
    labels: ['controller'],
  },
  multinic_leader: {
    type: 'gauge',
    help: '1 while this process leads, else 0.',
    labels: ['lease'],
  },
  multinic_openstack_requests_total: {
    type: 'counter',
    help: 'HTTP requests to OpenStack and Contrabass by service and status (0: no answer).',
    labels: ['service', 'status'],
  },
  multinic_openstack_request_duration_seconds: {
    type: 'histogram',
    help: 'Seconds until the answer of OpenStack or Contrabass was read.',
    labels: ['operation', 'status'],
    buckets: [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
  },
  multinic_nodes_delivered_total: {
    type: 'counter',
    help: 'Nodes posted to or deleted from Viola, by result (created, updated, unchanged, deleted, error).',
    labels: ['provider', 'result'],
  },
  multinic_http_requests_total: {
    type: 'counter',
    help: 'HTTP requests answered, by route and status.',
    labels: ['server', 'method', 'route', 'status'],
  },
  multinic_http_request_duration_seconds: {
    type: 'histogram',
    help: 'Seconds until the answer was sent.',
    labels: ['server', 'method', 'route'],
    buckets: [0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30],
  },
  multinic_token_file_usable: {
    type: 'gauge',
    help: '1 while the token file of the server can be used. At 0 nobody gets in after half a minute.',
    labels: ['server'],
  },
  multinic_jobs_started_total: {
    type: 'counter',
    help: 'Agent Jobs created, by action (apply, cleanup).',
    labels: ['action'],
  },
  multinic_job_results_total: {
    type: 'counter',
    help: 'Agent Jobs that ended, by outcome (ok, partial, failed, refused, or a reason such as ResultLost).',
    labels: ['outcome'],
  },
  multinic_jobs_active: {
    type: 'gauge',
    help: 'Agent Jobs that have not ended.',
    labels: [],
  },
  multinic_interfaces: {
    type: 'gauge',
    help: 'NICs of all MultiNicNodeConfigs by state.',
    labels: ['state'],
  },
  multinic_node_configs: {
    type: 'gauge',
    help: 'MultiNicNodeConfigs by state.',
    labels: ['state'],
  },
} as const;
