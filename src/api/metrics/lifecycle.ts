/** Lifecycle metrics. */
export const lifecycleMetrics = {
  multinic_operator_reconcile_total: {
    type: 'counter',
    help: 'Finished reconciles of MultiNicOperators by result (success, error).',
    lookFor: 'Errors that keep rising: the log of lifecycle names the object.',
    labels: ['result'],
  },
  multinic_operator_managed_resources_count: {
    type: 'gauge',
    help: 'Objects that a MultiNicOperator manages, by kind, as the leading lifecycle watches them.',
    lookFor: 'Fewer than before without an edit of the MultiNicOperator.',
    labels: ['kind'],
  },
  multinic_operator_not_running: {
    type: 'gauge',
    help: 'MultiNicOperators whose phase is not Running, by name and reason of the condition Ready.',
    lookFor: 'A series that stays for minutes: status.message has the action.',
    labels: ['operator', 'reason'],
  },
  multinic_operator_contested: {
    type: 'gauge',
    help: '1 for a MultiNicOperator whose objects another field manager changes after each repair, by name.',
    lookFor: 'Any value: the condition Contested names object and field manager.',
    labels: ['operator'],
  },
  multinic_component_status: {
    type: 'gauge',
    help: '1 while a component of a MultiNicOperator (controller, database, protection) is ready, else 0; components that the spec does not enable have no series.',
    lookFor: '0 for minutes: status.message names the component and its cause.',
    labels: ['component', 'namespace', 'operator'],
  },
  multinic_operator_protection_events_total: {
    type: 'counter',
    help: 'Actions of the admission webhook of lifecycle by event: refused (a change of a managed object, without dry runs) or break_glass (an annotation paused the protection).',
    lookFor: 'Steadily rising refused: a program changes managed objects; the Event names it.',
    labels: ['event'],
  },
  multinic_operator_recoveries_total: {
    type: 'counter',
    help: 'Managed objects that lifecycle repaired after a change or deletion, by kind.',
    lookFor: 'Rising for minutes: another field manager changes an object after each repair.',
    labels: ['kind'],
  },
  multinic_webhook_certificate_expiry_timestamp_seconds: {
    type: 'gauge',
    help: 'Expiry of a certificate of the admission webhook (Unix time): ca and server of the leading lifecycle.',
    lookFor: 'server less than a week away: the renewal fails, and the log has the cause.',
    labels: ['certificate'],
  },
  multinic_database_restore_failed: {
    type: 'gauge',
    help: 'Whether the last restore of the MariaDB that a MultiNicOperator installed failed after it had changed data (1) or not (0).',
    lookFor: 'Value 1: the data may be incomplete; no backup is removed until a restore succeeds.',
    labels: [],
  },
  multinic_database_last_backup_timestamp_seconds: {
    type: 'gauge',
    help: 'Time of the last verified backup of the MariaDB that a MultiNicOperator installed, in seconds since 1970; before the first backup: creation of the volume claim. Absent without a schedule.',
    lookFor: 'Older than twice multinic_database_backup_period_seconds: backups fail.',
    labels: [],
  },
  multinic_database_backup_period_seconds: {
    type: 'gauge',
    help: 'Longest time between two of the next ten backups of the schedule, in seconds.',
    lookFor: 'Nothing; the backup alert uses the value.',
    labels: [],
  },
} as const;
