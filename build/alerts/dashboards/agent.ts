import { ofLeader } from '../expressions.ts';
import type { Dashboard } from './dashboard.ts';
import { graph, kubernetes, leading, number, processes, rate, work } from './panels.ts';

const byState = (metric: string): string =>
  `sum by (state) (${ofLeader(metric, 'controller', ['state'])})`;
const notReady = ofLeader('multinic_node_configs_not_ready', 'controller', ['reason']);
const active = ofLeader('multinic_jobs_active', 'controller', []);

/** Dashboard for a business cluster: controller and agents. */
export const agentDashboard: Dashboard = {
  uid: 'multinic-agent',
  title: 'MultiNIC / Nodes and agents',
  rows: [
    {
      title: 'Now',
      panels: [
        leading('controller'),
        number('Nodes', byState('multinic_node_configs'), '{{state}}'),
        number('NICs', byState('multinic_interfaces'), '{{state}}'),
        number('Active agents', `sum(${active})`),
        number('Missing rights', 'max(multinic_rights_missing)'),
      ],
    },
    {
      title: 'Nodes and NICs',
      panels: [
        graph('NICs by state', 'short', [byState('multinic_interfaces'), '{{state}}']),
        graph('Nodes by state', 'short', [byState('multinic_node_configs'), '{{state}}']),
        graph('Not Ready, by reason', 'short', [`sum by (reason) (${notReady})`, '{{reason}}']),
      ],
    },
    {
      title: 'Agents',
      panels: [
        graph('Jobs started', 'ops', [
          rate('multinic_jobs_started_total', ['action']),
          '{{action}}',
        ]),
        graph('Jobs ended', 'ops', [
          rate('multinic_job_results_total', ['outcome']),
          '{{outcome}}',
        ]),
        graph('Jobs active', 'short', [`sum(${active})`, 'active']),
      ],
    },
    work('node-config'),
    kubernetes('controller'),
    processes('controller'),
  ],
};
