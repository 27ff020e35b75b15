import type { Alerts } from './alert.ts';
import { logs, systemNamespace } from './commands.ts';
import { ofLeader } from './expressions.ts';

const last = ofLeader('multinic_database_last_backup_timestamp_seconds', 'lifecycle', []);
const period = ofLeader('multinic_database_backup_period_seconds', 'lifecycle', []);

/** Alert about backups of the MariaDB from a MultiNicOperator. */
export const ofBackups = {
  MultiNicBackupMissing: {
    exprs: {
      'multinic-operator': `time() - max by (cluster) (${last}) > 2 * max by (cluster) (${period})`,
    },
    for: '15m',
    severity: 'warning',
    summary: 'MariaDB of MultiNIC has no verified backup for two backup periods.',
    description: 'Two consecutive backups are missing, or could not be restored for verification.',
    meaning: {
      en: 'CronJob `mariadb-backup` does not run, or each run fails: the volume is full, MariaDB refuses the login, or the dump differs from its restored copy.',
      ko: 'CronJob `mariadb-backup`이 실행되지 않거나 매번 실패합니다. 볼륨이 가득 찼거나, MariaDB가 로그인을 거부하거나, 덤프가 복원한 사본과 다릅니다.',
    },
    impact: {
      en: 'NICs and the inventory continue to work. If the volume of MariaDB is lost, the history since the last backup is lost, too. An upgrade to a new MariaDB image waits for a backup.',
      ko: 'NIC와 인벤토리는 계속 동작합니다. MariaDB 볼륨을 잃으면 마지막 백업 이후의 이력도 잃습니다. MariaDB 이미지 변경은 백업이 성공할 때까지 대기합니다.',
    },
    diagnosis: [
      {
        say: {
          en: 'The condition `Ready` has the reason of the last failure, and `status.databaseStatus.lastBackup` the last verified file.',
          ko: '`Ready` 조건에 마지막 실패 원인이, `status.databaseStatus.lastBackup`에 마지막으로 검증된 파일이 있습니다.',
        },
        run: 'kubectl get multinicoperators -A -o yaml',
      },
      {
        say: {
          en: 'Check that the CronJob is scheduled, its claim is bound, and its last Pod has started.',
          ko: 'CronJob이 예약되었는지, 클레임이 바인딩되었는지, 마지막 Pod가 시작되었는지 확인합니다.',
        },
        run: `kubectl -n ${systemNamespace} get cronjobs,jobs,pods,pvc`,
      },
      {
        say: {
          en: 'The log of lifecycle has the requests that the API server refused.',
          ko: 'lifecycle 로그에 API 서버가 거부한 요청이 있습니다.',
        },
        run: logs.lifecycle,
      },
    ],
    fix: [
      {
        en: 'Volume full: raise `spec.database.storageSize`, or lower `spec.database.backup.retention`. Other causes: follow the message.',
        ko: '볼륨이 가득 찬 경우 `spec.database.storageSize`를 늘리거나 `spec.database.backup.retention`을 줄이십시오. 다른 원인은 메시지에 나온 조치를 따르십시오.',
      },
      {
        en: `Then make a backup at once: \`kubectl -n ${systemNamespace} create job --from=cronjob/mariadb-backup mariadb-backup-now\`.`,
        ko: `그런 다음 바로 백업을 만드십시오: \`kubectl -n ${systemNamespace} create job --from=cronjob/mariadb-backup mariadb-backup-now\`.`,
      },
    ],
  },
} as const satisfies Alerts;
