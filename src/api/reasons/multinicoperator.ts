import { nothing, type ReasonRow, row } from './reason-row.ts';

/** Reasons for a MultiNicOperator. */
export const multiNicOperatorReasons = {
  AllComponentsReady: row(
    'multinicoperator',
    false,
    [
      'All components that the spec enables (operator, MariaDB, protection) are ready.',
      'spec에서 사용하도록 설정한 구성 요소(오퍼레이터, MariaDB, 보호 기능)가 모두 준비되었습니다.',
    ],
    nothing,
  ),
  ComponentsNotReady: row(
    'multinicoperator',
    true,
    [
      'A component is not ready; the message names the component and the cause.',
      '준비되지 않은 구성 요소가 있습니다. 메시지에 해당 구성 요소와 원인이 있습니다.',
    ],
    [
      'Wait while Pods start. If the component stays not ready, follow the message, or check the Pods that it names.',
      'Pod가 시작되는 동안 기다리십시오. 계속되면 메시지의 조치를 따르거나 해당 Pod를 확인하십시오.',
    ],
  ),
  InvalidSpec: row(
    'multinicoperator',
    false,
    [
      'A field of the spec has an unusable value. Its component is not changed; the other components are processed.',
      'spec에 사용할 수 없는 값을 가진 필드가 있습니다. 해당 구성 요소는 변경하지 않으며 나머지 구성 요소는 처리됩니다.',
    ],
    ['Correct the field that the message names.', '메시지에 표시된 필드를 수정하십시오.'],
  ),
  InvalidAnnotation: row(
    'multinicoperator',
    false,
    [
      'An annotation has an unusable value and is ignored, such as a break-glass time in the past.',
      '사용할 수 없는 값을 가진 어노테이션을 무시합니다(예: 이미 지난 break-glass 시각).',
    ],
    [
      'Remove the annotation that the message names, or correct its value.',
      '메시지에 표시된 어노테이션을 제거하거나 값을 수정하십시오.',
    ],
  ),
  NotResponsible: row(
    'multinicoperator',
    false,
    [
      'Lifecycle ignores this MultiNicOperator: it is in another namespace, an older MultiNicOperator exists, or Kubernetes is older than 1.21.',
      'lifecycle이 처리하지 않는 MultiNicOperator입니다. 다른 네임스페이스에 있거나, 먼저 만든 MultiNicOperator가 있거나, Kubernetes가 1.21보다 오래되었습니다.',
    ],
    [
      'Delete this object, or create it in the namespace that the message names.',
      '이 객체를 삭제하거나 메시지에 표시된 네임스페이스에 만드십시오.',
    ],
  ),
  ReconcileError: row(
    'multinicoperator',
    true,
    [
      'The API server refused a change, or did not answer; lifecycle retries.',
      'API 서버가 변경을 거부했거나 응답하지 않았습니다. lifecycle이 다시 시도합니다.',
    ],
    [
      'Read the error of the API server in the message (a quota, a missing right, another webhook).',
      'API 서버의 오류(쿼터, 권한 부족, 다른 웹훅)가 담긴 메시지를 확인하십시오.',
    ],
  ),
  RecoveryOff: row(
    'multinicoperator',
    false,
    [
      'Managed objects differ from the spec while spec.protection.enableAutoRecovery is false or break-glass pauses recovery.',
      'spec.protection.enableAutoRecovery가 false이거나 break-glass로 복구가 멈춘 동안 관리 대상 객체가 spec과 달라졌습니다.',
    ],
    [
      'To apply the spec again, set spec.protection.enableAutoRecovery to true, or remove the annotation multinic.io/break-glass.',
      'spec을 다시 적용하려면 spec.protection.enableAutoRecovery를 true로 설정하거나 multinic.io/break-glass 어노테이션을 제거하십시오.',
    ],
  ),
  PasswordInSpec: row(
    'multinicoperator',
    false,
    [
      'The spec contains a password, which every user who may read the object can see; lifecycle copies it to Secret mariadb-credentials.',
      'spec에 비밀번호가 있어 이 객체를 읽을 수 있는 모든 사용자에게 보입니다. Secret mariadb-credentials에 복사됩니다.',
    ],
    [
      'Remove the password from the spec; it stays in the Secret.',
      'spec에서 비밀번호를 제거하십시오. Secret에는 그대로 남습니다.',
    ],
  ),
  LegacyControllerRuns: row(
    'multinicoperator',
    true,
    [
      'Deployment multinic-controller-manager of the legacy system runs, so no operator is created.',
      '기존 시스템의 Deployment multinic-controller-manager가 실행 중이어서 오퍼레이터를 만들지 않습니다.',
    ],
    [
      'Scale that Deployment to 0, or set the annotation multinic.io/take-over to true.',
      '해당 Deployment의 복제본을 0으로 줄이거나 multinic.io/take-over 어노테이션을 true로 설정하십시오.',
    ],
  ),
  BaseUnusable: row(
    'multinicoperator',
    true,
    [
      "ConfigMap multinic-controller-base, the chart's rendering of the operator, is missing or damaged.",
      '차트가 렌더링한 오퍼레이터인 ConfigMap multinic-controller-base가 없거나 손상되었습니다.',
    ],
    ['Run the helm command that the message gives.', '메시지에 있는 helm 명령을 실행하십시오.'],
  ),
  BackupFailed: row(
    'multinicoperator',
    true,
    [
      'The last backup of MariaDB could not be made or verified; earlier files are unchanged.',
      '마지막 MariaDB 백업을 만들거나 검증하지 못했습니다. 이전 파일은 그대로입니다.',
    ],
    [
      'Correct the cause that the message names, such as a full volume; the next scheduled backup is the next attempt.',
      '볼륨 부족 등 메시지에 표시된 원인을 해결하십시오. 다음 예약 시각에 다시 시도합니다.',
    ],
  ),
  BackupVolumeFull: row(
    'multinicoperator',
    true,
    [
      'The volume of the backups has no room for another dump; earlier files are unchanged.',
      '백업 볼륨에 새 덤프를 저장할 공간이 없습니다. 이전 파일은 그대로입니다.',
    ],
    [
      'Set spec.database.backup.storageSize to the size that the message names.',
      'spec.database.backup.storageSize를 메시지에 표시된 크기로 설정하십시오.',
    ],
  ),
  RestoreFailed: row(
    'multinicoperator',
    true,
    [
      'A restore of MariaDB ended in the middle of the exchange of data. The message says where the former data is; no backup is removed until a restore succeeds.',
      'MariaDB 복원이 데이터를 교체하는 중에 끝났습니다. 메시지에 이전 데이터의 위치가 표시됩니다. 복원이 성공할 때까지 백업을 삭제하지 않습니다.',
    ],
    [
      'Correct the cause that the message names, and restore again: set multinic.io/restore to latest@TEXT, or to a file.',
      '메시지에 표시된 원인을 해결한 뒤 multinic.io/restore를 latest@TEXT 또는 파일 이름으로 설정하여 다시 복원하십시오.',
    ],
  ),
  RestoreRefused: row(
    'multinicoperator',
    true,
    [
      'A restore of MariaDB ended before the exchange of data; the present data is unchanged.',
      'MariaDB 복원이 데이터를 교체하기 전에 끝났습니다. 현재 데이터는 그대로입니다.',
    ],
    [
      'Correct the cause that the message names, and restore again: set multinic.io/restore to latest@TEXT, or to a file.',
      '메시지에 표시된 원인을 해결한 뒤 multinic.io/restore를 latest@TEXT 또는 파일 이름으로 설정하여 다시 복원하십시오.',
    ],
  ),
  Restored: row(
    'multinicoperator',
    false,
    ['A restore of MariaDB has succeeded.', 'MariaDB 복원이 성공했습니다.'],
    ['Nothing to do.', '조치가 필요 없습니다.'],
  ),
  ImageUnusable: row(
    'multinicoperator',
    true,
    [
      'The new image of MariaDB cannot be pulled, lacks programs, or does not accept the options; the former server still runs.',
      '새 MariaDB 이미지를 가져올 수 없거나, 필요한 프로그램이 없거나, 옵션을 지원하지 않습니다. 이전 서버가 계속 실행됩니다.',
    ],
    ['Correct spec.database.image.', 'spec.database.image를 수정하십시오.'],
  ),
  DatabaseOperation: row(
    'multinicoperator',
    true,
    [
      'A restore, upgrade or rotation of MariaDB is running; the message names its step and the requests that wait.',
      'MariaDB의 복원, 업그레이드 또는 비밀번호 교체가 진행 중입니다. 메시지에 단계와 대기 중인 요청이 표시됩니다.',
    ],
    ['Wait until the operation has ended.', '작업이 끝날 때까지 기다리십시오.'],
  ),
  OperationUnreadable: row(
    'multinicoperator',
    false,
    [
      'Annotation multinic.io/operation on claim mysql-storage-mariadb-0 was edited and cannot be read: no operation starts.',
      'mysql-storage-mariadb-0 클레임의 multinic.io/operation 어노테이션이 변경되어 읽을 수 없습니다. 어떤 작업도 시작하지 않습니다.',
    ],
    [
      'If no Job of MariaDB runs, remove the annotation.',
      '실행 중인 MariaDB Job이 없으면 어노테이션을 삭제하십시오.',
    ],
  ),
  TablesMissing: row(
    'multinicoperator',
    true,
    [
      "The last backup found none of the inventory's tables in MariaDB; no restore has filled it yet.",
      '마지막 백업 때 MariaDB에 인벤토리 테이블이 하나도 없었고 아직 복원하지 않았습니다. 예약 백업은 중단됩니다.',
    ],
    [
      'Set multinic.io/restore to latest; in a new installation, start the operator and make a backup.',
      'multinic.io/restore를 latest로 설정하십시오. 새로 설치한 경우 오퍼레이터를 시작하고 백업을 만드십시오.',
    ],
  ),
  VolumeLeaving: row(
    'multinicoperator',
    false,
    [
      'A claim of MariaDB or its backups is being deleted; its data goes with the last Pod that uses it.',
      'MariaDB 또는 백업의 클레임이 삭제되는 중입니다. 클레임을 사용하는 마지막 Pod가 끝나면 데이터가 사라집니다.',
    ],
    [
      'Make a backup and copy it off the cluster; then restore it into the new volume.',
      '백업을 만들어 클러스터 밖에 복사한 뒤 새 볼륨에 복원하십시오.',
    ],
  ),
  VolumeReplaced: row(
    'multinicoperator',
    true,
    [
      'MariaDB has a new or emptied volume without the former data; no restore has filled it yet. Scheduled backups are suspended.',
      'MariaDB에 이전 데이터가 없는 새 볼륨이나 비워진 볼륨이 연결되었고 아직 복원하지 않았습니다.',
    ],
    [
      'Set multinic.io/restore to latest, or to empty to start without the data.',
      'multinic.io/restore를 latest로 설정하거나, 데이터 없이 시작하려면 empty로 설정하십시오.',
    ],
  ),
  AsSpecified: row(
    'multinicoperator',
    false,
    ['The condition was True before and has ended.', '이전에 True였던 조건이 해소되었습니다.'],
    nothing,
  ),
} as const satisfies Record<string, ReasonRow>;
