/** Controller metrics in a business cluster. */
export const controllerMetrics = {
  multinic_jobs_started_total: {
    type: 'counter',
    help: 'Agent Jobs created, by action (apply, cleanup).',
    lookFor: 'A rate far above that of changes: Jobs are repeated.',
    labels: ['action'],
  },
  multinic_job_results_total: {
    type: 'counter',
    help: 'Ended agent Jobs by outcome (ok, partial, failed, refused, or a reason such as ResultLost).',
    lookFor: 'Outcomes other than ok that continue: the status of the object has NIC and reason.',
    labels: ['outcome'],
  },
  multinic_jobs_active: {
    type: 'gauge',
    help: 'Active agent Jobs.',
    lookFor: 'A number that never falls: Pods that cannot start, or lost nodes.',
    labels: [],
  },
  multinic_interfaces: {
    type: 'gauge',
    help: 'NICs of all MultiNicNodeConfigs by state.',
    lookFor: 'Failed above 0, and InProgress for longer than the deadline of a Job.',
    labels: ['state'],
  },
  multinic_node_configs: {
    type: 'gauge',
    help: 'MultiNicNodeConfigs by state.',
    lookFor: 'Failed above 0, and Pending or InProgress that stays.',
    labels: ['state'],
  },
  multinic_node_configs_drifted: {
    type: 'gauge',
    help: 'MultiNicNodeConfigs whose node differs from the applied configuration and is not restored yet.',
    lookFor: 'Above 0 for longer than an agent run: the drift policy is report, or applying fails.',
    labels: [],
  },
  multinic_node_configs_not_ready: {
    type: 'gauge',
    help: 'MultiNicNodeConfigs whose condition Ready is False, or Unknown with the reason NodeNotReady, by reason.',
    lookFor: 'A reason that stays: see its action in the table of reasons.',
    labels: ['reason'],
  },
  multinic_biz_configs_not_ready: {
    type: 'gauge',
    help: 'MultiNicBizConfigs whose condition Ready is False, or Unknown with the reason NodeNotReady, by reason.',
    lookFor: 'A reason that stays: see its action in the table of reasons.',
    labels: ['reason'],
  },
  multinic_removal_budget_used: {
    type: 'gauge',
    help: 'Nodes (scope clusterNodes) and NICs (clusterNics) of the business cluster whose removal by edits and deletions counts in the budget of the last hour, waiting removals included.',
    lookFor: 'Above 20 % of all nodes or NICs: removals wait for consent (RemovalHeld).',
    labels: ['scope'],
  },
  multinic_rollout_nodes: {
    type: 'gauge',
    help: 'Nodes in rollouts of all revisions, by state: waiting, running, done, failed (a NIC that was configured before failed), stopped (waits for a stopped rollout).',
    lookFor: 'stopped above 0: too many nodes failed; waiting that stays while running is 0.',
    labels: ['state'],
  },
} as const;
