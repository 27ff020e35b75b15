import type { Chart } from '../../../build/alerts/alert.ts';
import type { AlertName } from '../../../build/alerts/alerts.ts';
import { leases } from '../../../build/alerts/expressions.ts';
import {
  leaderOf,
  leads,
  longest,
  type Part,
  rises,
  type Series,
  seriesOf,
  shows,
} from './series.ts';

/** What must make an alert fire once it has held long enough, and something near it that must not. */
export interface Scenario {
  readonly fires: Series;
  readonly quiet: Series;
  /** Labels of the alert, beside its name and severity. */
  readonly labels?: Readonly<Record<string, string>>;
  /** `$value`, as its texts show it. */
  readonly value?: string;
}

/** A gauge of one MultiNicOperator; quiet when only a process shows it that leads no more. */
function ofOperator(name: string, more: Readonly<Record<string, string>>): Scenario {
  const operator = 'production-system';
  return {
    fires: { ...leads('lifecycle'), ...shows(name, { operator, ...more }, 1) },
    quiet: {
      ...leads('lifecycle', 0, 'b'),
      ...shows(name, { operator, ...more }, 1, 'b'),
      ...leads('lifecycle'),
      ...shows(name, { operator, ...more }, 0),
    },
    labels: { operator },
  };
}

/** A last backup at this second beside a period of a day; Prometheus' test begins at second 0. */
function backupAge(last: number): Scenario {
  const time = 'multinic_database_last_backup_timestamp_seconds';
  const period = shows('multinic_database_backup_period_seconds', {}, 86_400);
  return {
    fires: { ...leads('lifecycle'), ...shows(time, {}, last), ...period },
    quiet: { ...leads('lifecycle'), ...shows(time, {}, 0), ...period },
  };
}

const gauges = {
  openstackConfigs: ['multinic_openstack_configs_not_ready', 'operator'],
  nics: ['multinic_openstack_configs_nics_not_ready', 'operator'],
  nodeConfigs: ['multinic_node_configs_not_ready', 'controller'],
  bizConfigs: ['multinic_biz_configs_not_ready', 'controller'],
} as const;

/** Two objects for this reason; quiet when only a process says so that leads no more, or when it is another reason. */
function byReason(objects: keyof typeof gauges, reason: string, labels = { reason }): Scenario {
  const [name, part] = gauges[objects];
  return {
    fires: { ...leads(part), ...shows(name, { reason }, 2) },
    quiet: {
      ...leads(part, 0, 'b'),
      ...shows(name, { reason }, 2, 'b'),
      ...leads(part),
      ...shows(name, { reason }, 0),
      ...shows(name, { reason: 'SomethingElse' }, 2),
    },
    labels,
    value: '2',
  };
}

function down(part: Part): Scenario {
  return { fires: leads(part, 0), quiet: { ...leads(part, 0), ...leads(part, 1, 'b') } };
}

function renewals(part: Part): Scenario {
  const name = 'multinic_lease_renewal_duration_seconds_bucket';
  const lease = leases[part];
  const bucket = (le: string, by: number): Series =>
    rises(name, { lease, le, result: 'success' }, by);
  return {
    fires: { ...bucket('3', 8), ...bucket('4', 10), ...bucket('+Inf', 10) },
    quiet: { ...bucket('3', 19), ...bucket('4', 20), ...bucket('+Inf', 20) },
    labels: { lease },
  };
}

function silence(part: Part, kind: string): Scenario {
  const name = 'multinic_reflector_silence_seconds';
  return {
    fires: { ...leads(part), ...shows(name, { kind }, 121) },
    quiet: {
      ...leads(part),
      ...shows(name, { kind }, 60),
      ...leads(part, 0, 'b'),
      ...shows(name, { kind }, 9_999, 'b'),
    },
    labels: { kind },
  };
}

function hanging(controller: string): Scenario {
  const name = 'multinic_longest_running_seconds';
  return {
    fires: shows(name, { controller }, 700),
    quiet: shows(name, { controller }, 500),
    labels: { controller },
    value: '11m 40s',
  };
}

/** Each minute a reconcile fails; quiet when the last failure is long ago, though statuses with errors rise. */
function failing(controller: string): Scenario {
  const name = 'multinic_reconcile_total';
  const failed = { controller, result: 'error', status: 'reconcile_error' };
  return {
    fires: rises(name, failed, 1),
    quiet: {
      [seriesOf(name, failed, 'a')]: `0+1x10 10+0x${longest}`,
      ...rises(name, { controller, result: 'success', status: 'error' }, 5),
    },
    labels: { controller },
    value: '10',
  };
}

function heap(part: string): Scenario {
  const limit = shows('multinic_heap_limit_bytes', { part }, 1_000);
  return {
    fires: { ...limit, ...shows('nodejs_heap_size_used_bytes', {}, 900) },
    // Garbage is collected once in a quarter of an hour.
    quiet: {
      ...limit,
      [seriesOf('nodejs_heap_size_used_bytes', {}, 'a')]: `400 ${'990+0x13 400 '.repeat(8)}`,
    },
    labels: { part },
    value: '90%',
  };
}

function rights(part: string): Scenario {
  const about = shows('multinic_build_info', { part, version: '1', commit: 'c' }, 1);
  return {
    fires: { ...about, ...shows('multinic_rights_missing', {}, 3) },
    quiet: { ...about, ...shows('multinic_rights_missing', {}, 0) },
    labels: { part },
    value: '3',
  };
}

function outdated(crd: string): Scenario {
  return {
    fires: shows('multinic_crd_schema_behind', { crd }, 1),
    // Newer than this version.
    quiet: shows('multinic_crd_schema_behind', { crd }, -1),
    labels: { crd },
    value: '1',
  };
}

const day = 86_400;
const expiry = 'multinic_viola_certificate_expiry_timestamp_seconds';
const results = 'multinic_job_results_total';
const calls = 'multinic_inventory_calls_total';
const nics = 'multinic_interfaces';

/** For each alert, in each chart that has it. */
export const scenarios: Readonly<Record<AlertName, Partial<Record<Chart, Scenario>>>> = {
  MultiNicOperatorDown: { 'multinic-operator': down('operator') },
  MultiNicControllerDown: { 'multinic-agent': down('controller') },
  MultiNicViolaDown: {
    'multinic-operator': {
      fires: shows('multinic_build_info', { part: 'operator', version: '1', commit: 'c' }, 1),
      quiet: shows('multinic_build_info', { part: 'viola', version: '1', commit: 'c' }, 1),
      labels: { part: 'viola' },
    },
  },
  MultiNicLifecycleDown: {
    'multinic-operator': {
      fires: { [leaderOf('lifecycle')]: `1 0x${longest}` },
      // An installation without lifecycle has no such series.
      quiet: leads('operator'),
    },
  },
  MultiNicOperatorNotRunning: {
    'multinic-operator': ofOperator('multinic_operator_not_running', { reason: 'InvalidSpec' }),
  },
  MultiNicOperatorContested: {
    'multinic-operator': ofOperator('multinic_operator_contested', {}),
  },
  MultiNicBackupMissing: { 'multinic-operator': backupAge(-173_000) },
  MultiNicRestoreFailed: {
    'multinic-operator': {
      fires: { ...leads('lifecycle'), ...shows('multinic_database_restore_failed', {}, 1) },
      quiet: { ...leads('lifecycle'), ...shows('multinic_database_restore_failed', {}, 0) },
    },
  },
  MultiNicCloudFailing: { 'multinic-operator': byReason('openstackConfigs', 'KeystoneError') },
  MultiNicDeliveryFailing: { 'multinic-operator': byReason('openstackConfigs', 'ViolaPostError') },
  MultiNicNicsNotReady: { 'multinic-operator': byReason('nics', 'NICsNotConfigured') },
  MultiNicOpenstackConfigNotReady: {
    'multinic-operator': byReason('openstackConfigs', 'NameConflict'),
  },
  MultiNicRemovalHeld: { 'multinic-operator': byReason('openstackConfigs', 'RemovalHeld') },
  MultiNicRemovalUnconfirmed: {
    'multinic-operator': byReason('openstackConfigs', 'RemovalUnconfirmed'),
  },
  MultiNicDeletionStuck: { 'multinic-operator': byReason('openstackConfigs', 'Deleting') },
  MultiNicCloudUnread: {
    'multinic-operator': {
      fires: {
        ...leads('operator'),
        ...shows('multinic_trigger_mode', { mode: 'immediate' }, 1),
        ...shows('multinic_cloud_look_age_seconds', { cloud: 'https://a' }, 7_200),
      },
      // Looks are a day apart, as somebody said; or it is a process that leads no more.
      quiet: {
        ...leads('operator'),
        ...shows('multinic_trigger_mode', { mode: 'scheduled' }, 1),
        ...shows('multinic_cloud_look_age_seconds', { cloud: 'https://a' }, 7_200),
        ...leads('operator', 0, 'b'),
        ...shows('multinic_trigger_mode', { mode: 'immediate' }, 1, 'b'),
        ...shows('multinic_cloud_look_age_seconds', { cloud: 'https://a' }, 7_200, 'b'),
      },
      labels: { cloud: 'https://a' },
      value: '2h 0m 0s',
    },
  },
  MultiNicTriggerConfigUnusable: {
    'multinic-operator': {
      fires: { ...leads('operator'), ...shows('multinic_trigger_config_usable', {}, 0) },
      quiet: {
        ...leads('operator'),
        ...shows('multinic_trigger_config_usable', {}, 1),
        ...leads('operator', 0, 'b'),
        ...shows('multinic_trigger_config_usable', {}, 0, 'b'),
      },
    },
  },
  MultiNicInventoryFailing: {
    'multinic-operator': {
      // A full volume is read from, and takes what has not changed.
      fires: {
        ...rises(calls, { result: 'error' }, 2),
        ...rises(calls, { result: 'success' }, 10),
      },
      // Down for ten minutes, some time ago.
      quiet: {
        [seriesOf(calls, { result: 'error' }, 'a')]: `0+2x10 20+0x${longest}`,
        ...rises(calls, { result: 'success' }, 1),
      },
    },
  },
  MultiNicTokenFileUnusable: {
    'multinic-operator': {
      fires: {
        ...shows('multinic_token_file_usable', { server: 'viola' }, 0),
        ...shows('multinic_token_file_usable', { server: 'viola' }, 1, 'b'),
      },
      quiet: shows('multinic_token_file_usable', { server: 'viola' }, 1),
      labels: { server: 'viola' },
    },
  },
  MultiNicAccessNotKept: {
    'multinic-operator': {
      fires: rises('multinic_viola_access_failures_total', { secret: 'viola-api-tls' }, 1),
      quiet: rises('multinic_viola_access_failures_total', { secret: 'viola-api-tls' }, 0),
      labels: { secret: 'viola-api-tls' },
    },
  },
  MultiNicCertificateExpiring: {
    'multinic-operator': {
      fires: { ...leads('operator'), ...shows(expiry, { certificate: 'ca' }, 10 * day + 3_900) },
      quiet: {
        ...shows(expiry, { certificate: 'served' }, 20 * day),
        ...leads('operator', 0, 'b'),
        ...shows(expiry, { certificate: 'ca' }, day, 'b'),
      },
      labels: { certificate: 'ca' },
      value: '10d 0h 0m 0s',
    },
  },
  MultiNicRightsMissing: {
    'multinic-operator': rights('viola'),
    'multinic-agent': rights('controller'),
  },
  MultiNicClusterRightsMissing: {
    'multinic-operator': {
      fires: shows('multinic_cluster_rights_missing', { provider: 'biz-1' }, 2),
      quiet: shows('multinic_cluster_rights_missing', { provider: 'biz-1' }, 0),
      labels: { provider: 'biz-1' },
      value: '2',
    },
  },
  MultiNicCrdOutdated: {
    'multinic-operator': outdated('openstackconfigs.multinic.example.com'),
    'multinic-agent': outdated('multinicnodeconfigs.multinic.io'),
  },
  MultiNicLegacyListenerOn: {
    'multinic-operator': {
      // Parts that have no such listener show that it is off.
      fires: {
        ...shows('multinic_legacy_listener', {}, 1),
        ...shows('multinic_legacy_listener', {}, 0, 'b'),
      },
      quiet: shows('multinic_legacy_listener', {}, 0),
    },
  },
  MultiNicNicFailed: {
    'multinic-agent': {
      fires: { ...leads('controller'), ...shows(nics, { state: 'Failed' }, 3) },
      quiet: {
        ...leads('controller'),
        ...shows(nics, { state: 'Failed' }, 0),
        ...shows(nics, { state: 'Pending' }, 3),
        ...leads('controller', 0, 'b'),
        ...shows(nics, { state: 'Failed' }, 3, 'b'),
      },
      value: '3',
    },
  },
  MultiNicNicMissing: {
    'multinic-agent': { ...byReason('nodeConfigs', 'WaitingForNIC'), labels: {} },
  },
  MultiNicAgentFailing: { 'multinic-agent': byReason('nodeConfigs', 'ImagePullFailed') },
  MultiNicNodeConfigNotReady: { 'multinic-agent': byReason('nodeConfigs', 'NodeNotFound') },
  MultiNicDeletionsHeld: { 'multinic-agent': byReason('nodeConfigs', 'RemovalHeld') },
  MultiNicOtherController: { 'multinic-agent': byReason('nodeConfigs', 'OtherControllerActive') },
  MultiNicBizConfigNotReady: { 'multinic-agent': byReason('bizConfigs', 'EntriesRefused') },
  MultiNicRolloutStopped: {
    'multinic-agent': {
      fires: {
        ...leads('controller'),
        ...shows('multinic_rollout_nodes', { state: 'stopped' }, 7),
      },
      quiet: {
        ...leads('controller'),
        ...shows('multinic_rollout_nodes', { state: 'stopped' }, 0),
        ...shows('multinic_rollout_nodes', { state: 'waiting' }, 7),
      },
      value: '7',
    },
  },
  MultiNicJobsStuck: {
    'multinic-agent': {
      fires: {
        ...leads('controller'),
        ...shows('multinic_jobs_active', {}, 4),
        ...rises(results, { outcome: 'ok' }, 0),
      },
      quiet: {
        ...leads('controller'),
        ...shows('multinic_jobs_active', {}, 4),
        [seriesOf(results, { outcome: 'ok' }, 'a')]: `0+0x20 1+0x20 2+0x20 3+0x20 4+0x200`,
      },
      value: '4',
    },
  },
  MultiNicLeaseRenewalSlow: {
    'multinic-operator': renewals('operator'),
    'multinic-agent': renewals('controller'),
  },
  MultiNicWatchSilent: {
    'multinic-operator': silence('operator', 'OpenstackConfig'),
    'multinic-agent': silence('controller', 'Node'),
  },
  MultiNicWorkHanging: {
    'multinic-operator': hanging('openstack-config'),
    'multinic-agent': hanging('node-config'),
  },
  MultiNicReconcileFailing: {
    'multinic-operator': failing('openstack-config'),
    'multinic-agent': failing('biz-config'),
  },
  MultiNicHeapNearlyFull: {
    'multinic-operator': heap('viola'),
    'multinic-agent': heap('controller'),
  },
};
