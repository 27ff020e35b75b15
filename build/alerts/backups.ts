import type { Alerts } from './alert.ts';
import { logs, systemNamespace } from './commands.ts';
import { ofLeader } from './expressions.ts';

const last = ofLeader('multinic_database_last_backup_timestamp_seconds', 'lifecycle', []);
const period = ofLeader('multinic_database_backup_period_seconds', 'lifecycle', []);

const failed = ofLeader('multinic_database_restore_failed', 'lifecycle', []);

/** Alerts about backups and restores of the MariaDB from a MultiNicOperator. */
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
        en: 'Volume full: raise `spec.database.backup.storageSize` to the size in the message. Other causes: follow the message.',
        ko: '볼륨이 가득 찬 경우 `spec.database.backup.storageSize`를 메시지에 표시된 크기로 늘리십시오. 다른 원인은 메시지에 나온 조치를 따르십시오.',
      },
      {
        en: `Then make a backup at once: \`kubectl -n ${systemNamespace} create job --from=cronjob/mariadb-backup mariadb-backup-now\`.`,
        ko: `그런 다음 바로 백업을 만드십시오: \`kubectl -n ${systemNamespace} create job --from=cronjob/mariadb-backup mariadb-backup-now\`.`,
      },
    ],
  },
  MultiNicRestoreFailed: {
    exprs: { 'multinic-operator': `max by (cluster) (${failed}) > 0` },
    for: '1m',
    severity: 'critical',
    summary: 'A restore of the MariaDB of MultiNIC failed after it had changed data.',
    description:
      'The tables may be incomplete; lifecycle removes no backup until a restore succeeds.',
    meaning: {
      en: 'The exchange of the loaded copy and the live data ended early three times. The message says which data is where.',
      ko: '불러온 사본과 운영 데이터의 교체가 세 번 도중에 끝났습니다. 어떤 데이터가 어디에 있는지는 메시지에 표시됩니다.',
    },
    impact: {
      en: 'NICs continue to work: the inventory is a copy. Its API and the history may be incomplete.',
      ko: 'NIC는 계속 동작합니다. 인벤토리는 사본이며, 인벤토리 API와 이력이 완전하지 않을 수 있습니다.',
    },
    diagnosis: [
      {
        say: {
          en: 'The condition `Ready` has the reason, and `status.databaseStatus.lastRestore` the file.',
          ko: '`Ready` 조건에 원인이, `status.databaseStatus.lastRestore`에 파일이 있습니다.',
        },
        run: 'kubectl get multinicoperators -A -o yaml',
      },
      {
        say: {
          en: 'The Pod of the last Job `mariadb-restore-swap-…` has the failed statement in its log.',
          ko: '마지막 `mariadb-restore-swap-…` Job의 Pod 로그에 실패한 문장이 있습니다.',
        },
        run: `kubectl -n ${systemNamespace} get jobs,pods`,
      },
    ],
    fix: [
      {
        en: `Correct the cause and restore again: \`kubectl -n ${systemNamespace} annotate multinicoperator NAME --overwrite multinic.io/restore=latest@TEXT\`.`,
        ko: `원인을 해결한 뒤 다시 복원하십시오: \`kubectl -n ${systemNamespace} annotate multinicoperator NAME --overwrite multinic.io/restore=latest@TEXT\`.`,
      },
    ],
  },
} as const satisfies Alerts;
