import type { Alerts } from './alert.ts';
import { logs, operatorNamespace } from './commands.ts';

/** Alert about the inventory database. */
export const ofInventory = {
  MultiNicInventoryFailing: {
    // Successes do not suppress the alert: reads succeed on a full volume, and unchanged data need no write.
    exprs: {
      'multinic-operator':
        'sum by (cluster) (increase(multinic_inventory_calls_total{result="error"}[15m])) > 0',
    },
    for: '30m',
    severity: 'warning',
    summary: 'The database of the MultiNIC inventory fails.',
    description: 'Reads or writes of the inventory have failed repeatedly for 30 minutes.',
    meaning: {
      en: 'The SQLite file or the MariaDB of the inventory cannot be read or written. Some calls may succeed, because unchanged data need no write. After a failure the operator sends no call for 30 s.',
      ko: '인벤토리의 SQLite 파일 또는 MariaDB를 읽을 수 없거나 쓸 수 없습니다. 변경이 없으면 쓰지 않으므로 일부 호출은 성공할 수 있습니다. 실패하면 오퍼레이터가 30초 동안 호출하지 않습니다.',
    },
    impact: {
      en: 'NICs are still delivered. The inventory API returns outdated records, and the history has a gap.',
      ko: 'NIC 전달은 계속됩니다. 다만 인벤토리 API는 이전 기록을 보여 주고, 변경 이력에 공백이 생깁니다.',
    },
    diagnosis: [
      {
        say: {
          en: 'The log has the error of the database: volume full or read-only, host not found, access denied.',
          ko: '데이터베이스 오류(볼륨 가득 참 또는 읽기 전용, 호스트를 찾을 수 없음, 접근 거부)는 로그에 있습니다.',
        },
        run: logs.operator,
      },
      {
        say: {
          en: 'SQLite: check that its volume is bound, and its size.',
          ko: 'SQLite: 볼륨이 바인딩되어 있는지와 크기를 확인합니다.',
        },
        run: `kubectl -n ${operatorNamespace} get pvc multinic-operator-inventory`,
      },
      {
        say: {
          en: 'MariaDB: check the host and account that the operator uses.',
          ko: 'MariaDB: 오퍼레이터에 지정된 호스트와 계정을 확인합니다.',
        },
        run: `kubectl -n ${operatorNamespace} get deployment multinic-operator-controller-manager -o yaml | grep -A3 DB_`,
      },
    ],
    fix: [
      {
        en: 'Enlarge the volume, repair the database, or correct the account. No restore is needed: the inventory is a cache, and the operator reads lost data again from the clusters, except the history.',
        ko: '볼륨을 늘리거나 데이터베이스를 복구하거나 계정을 수정하십시오. 인벤토리는 캐시이므로 백업 복원은 필요하지 않으며, 변경 이력을 제외한 내용은 오퍼레이터가 클러스터에서 다시 읽습니다.',
      },
    ],
  },
} as const satisfies Alerts;
