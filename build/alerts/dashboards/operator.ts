import { ofLeader } from '../expressions.ts';
import type { Dashboard } from './dashboard.ts';
import { graph, kubernetes, leading, number, processes, rate, slowest, work } from './panels.ts';

const notReady = ofLeader('multinic_openstack_configs_not_ready', 'operator', ['reason']);

/** Dashboard for the management cluster: operator, inventory and Viola. */
export const operatorDashboard: Dashboard = {
  uid: 'multinic-operator',
  title: 'MultiNIC / Operator and Viola',
  rows: [
    {
      title: 'Now',
      panels: [
        leading('operator'),
        number('Viola Pods', 'count(multinic_build_info{part="viola"})'),
        number('Not Ready (sum of reasons)', `sum(${notReady}) or vector(0)`),
        number(
          'Versions',
          'count by (part, version) (multinic_build_info{part=~"operator|viola"})',
          '{{part}} {{version}}',
        ),
        number('Usable token files', 'min by (server) (multinic_token_file_usable)', '{{server}}'),
      ],
    },
    {
      title: 'OpenstackConfigs',
      panels: [
        graph('Not Ready, by reason', 'short', [`sum by (reason) (${notReady})`, '{{reason}}']),
        graph('Nodes delivered', 'ops', [
          rate('multinic_nodes_delivered_total', ['result']),
          '{{result}}',
        ]),
        graph('Nodes not delivered, by business cluster', 'ops', [
          rate('multinic_nodes_delivered_total{result="error"}', ['provider']),
          '{{provider}}',
        ]),
        graph('NICs, by state', 'short', [
          `sum by (state) (${ofLeader('multinic_delivered_interfaces', 'operator', ['provider', 'state'])})`,
          '{{state}}',
        ]),
        graph('NICs whose removal waits for consent', 'short', [
          `sum by (config_namespace, config) (${ofLeader('multinic_removals_held', 'operator', ['config_namespace', 'config'])})`,
          '{{config_namespace}}/{{config}}',
        ]),
        graph('Calls of the inventory database', 'ops', [
          rate('multinic_inventory_calls_total', ['result']),
          '{{result}}',
        ]),
      ],
    },
    {
      title: 'Clouds',
      panels: [
        graph('Requests', 'ops', [
          rate('multinic_openstack_requests_total', ['service', 'status']),
          '{{service}} {{status}}',
        ]),
        graph('Last read completely', 's', [
          `max by (cloud) (${ofLeader('multinic_cloud_look_age_seconds', 'operator', ['cloud'])})`,
          '{{cloud}}',
        ]),
        graph('Cache misses', 'ops', [
          rate('multinic_cache_lookups_total{result="miss"}', ['cache']),
          '{{cache}}',
        ]),
        graph('Slowest requests (99 %)', 's', [
          slowest('multinic_openstack_request_duration_seconds', ['operation']),
          '{{operation}}',
        ]),
      ],
    },
    {
      title: 'Viola and inventory',
      panels: [
        graph('Requests', 'ops', [
          rate('multinic_http_requests_total', ['server', 'method', 'status']),
          '{{server}} {{method}} {{status}}',
        ]),
        graph('Slowest requests (99 %)', 's', [
          slowest('multinic_http_request_duration_seconds', ['server', 'method', 'route']),
          '{{server}} {{method}} {{route}}',
        ]),
      ],
    },
    {
      title: 'Access',
      panels: [
        graph('Certificates of Viola expire in', 's', [
          `min by (certificate) (multinic_viola_certificate_expiry_timestamp_seconds) - time()`,
          '{{certificate}}',
        ]),
        graph('Next renewal in', 's', [
          'min by (what) (multinic_viola_access_renewal_timestamp_seconds) - time()',
          '{{what}}',
        ]),
        graph('Failed checks of access Secrets', 'ops', [
          rate('multinic_viola_access_failures_total', ['secret']),
          '{{secret}}',
        ]),
        graph(
          'Missing rights',
          'short',
          ['sum(multinic_rights_missing)', 'here'],
          ['max by (provider) (multinic_cluster_rights_missing)', 'in {{provider}}'],
        ),
      ],
    },
    work('openstack-config'),
    kubernetes('operator'),
    processes('operator|viola'),
  ],
};
