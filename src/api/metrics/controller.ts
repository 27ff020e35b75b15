/** Controller metrics in a business cluster. */
export const controllerMetrics = {
  multinic_jobs_started_total: {
    type: 'counter',
    help: 'Agent Jobs created, by action (apply, cleanup).',
    lookFor: 'A rate far above the changes that people make: Jobs are repeated.',
    labels: ['action'],
  },
  multinic_job_results_total: {
    type: 'counter',
    help: 'Agent Jobs that ended, by outcome (ok, partial, failed, refused, or a reason such as ResultLost).',
    lookFor: 'Anything but ok that goes on: the status of the object tells the NIC and the reason.',
    labels: ['outcome'],
  },
  multinic_agent_foreign_state_lost_total: {
    type: 'counter',
    help: 'Rules, routes, addresses, links, settings and files of others that were on a node before an agent changed its NICs and not after it.',
    lookFor:
      'An increase on nodes where no containers start and stop meanwhile: the agent log names what went, and who runs containers changes theirs all the time.',
    labels: [],
  },
  multinic_jobs_active: {
    type: 'gauge',
    help: 'Agent Jobs that have not ended.',
    lookFor: 'A number that never falls: Pods that cannot start, or nodes that are gone.',
    labels: [],
  },
  multinic_interfaces: {
    type: 'gauge',
    help: 'NICs of all MultiNicNodeConfigs by state.',
    lookFor: 'Failed above 0, and InProgress that stays for longer than a Job may take.',
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
    help: 'MultiNicNodeConfigs whose node was found to differ from what was applied, and was not brought back yet.',
    lookFor:
      'Above 0 for longer than an agent takes: the drift policy is report, or the apply fails.',
    labels: [],
  },
  multinic_node_configs_not_ready: {
    type: 'gauge',
    help: 'MultiNicNodeConfigs whose condition Ready is False, by its reason.',
    lookFor: 'A reason that stays: the table of reasons says what to do about it.',
    labels: ['reason'],
  },
  multinic_rollout_nodes: {
    type: 'gauge',
    help: 'Nodes that rollouts change, over all revisions: waiting, running, done, failed (for a NIC that was configured before), stopped (waiting for a rollout that was stopped).',
    lookFor: 'stopped above 0: too many nodes failed; waiting that stays while running is 0.',
    labels: ['state'],
  },
} as const;
