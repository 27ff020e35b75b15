import { type ReasonRow, row } from './reason-row.ts';

/** Reasons for a MultiNIC process, used in its log, Events and Viola's answers. */
export const partReasons = {
  RightsMissing: row(
    'part',
    true,
    [
      'The process lacks an RBAC right that it needs, so it is not ready.',
      '프로세스에 필요한 RBAC 권한이 없어 Ready가 아닙니다.',
    ],
    [
      'Grant the right: the log names each missing right, its role, and a command that adds it. No restart is needed.',
      '권한을 부여하십시오. 빠진 권한, 해당 Role, 추가 명령은 로그에 있습니다. 재시작은 필요 없습니다.',
    ],
  ),
  CRDTooOld: row(
    'part',
    true,
    [
      'The installed CRD lacks fields of this version, and the API server drops such fields without an error. The process is not ready, and a controller does not become leader.',
      '설치된 CRD에 이 버전의 필드가 없으며, API 서버는 이런 필드를 오류 없이 버립니다. 프로세스는 Ready가 아니며 컨트롤러는 리더가 되지 않습니다.',
    ],
    [
      'Apply the CRDs of this version; the message has the command.',
      '이 버전의 CRD를 적용하십시오. 명령은 메시지에 있습니다.',
    ],
  ),
  CRDTooNew: row(
    'part',
    false,
    [
      'The installed CRD has fields that this version does not know; the process leaves them unchanged.',
      '설치된 CRD에 이 버전이 모르는 필드가 있습니다. 해당 필드는 변경하지 않습니다.',
    ],
    [
      'Upgrade the process to the version of the CRD. During an upgrade no action is needed.',
      '프로세스를 CRD의 버전으로 업그레이드하십시오. 업그레이드 중이면 조치가 필요 없습니다.',
    ],
  ),
  TriggerConfigUnusable: row(
    'part',
    false,
    [
      'The ConfigMap multinic-operator-triggers, which sets when OpenstackConfigs are synced, cannot be used. The previous configuration stays in effect; after a restart the operator works in mode manual.',
      'OpenstackConfig를 동기화하는 시점을 정하는 ConfigMap multinic-operator-triggers를 사용할 수 없습니다. 이전 설정이 계속 적용되며, 재시작 후에는 manual 모드로 동작합니다.',
    ],
    [
      'Correct the field of trigger.yaml that the message names; no restart is needed.',
      '메시지에 나온 trigger.yaml 필드를 수정하십시오. 재시작은 필요 없습니다.',
    ],
  ),
} as const satisfies Record<string, ReasonRow>;
