import { type ReasonRow, row } from './reason-row.ts';

/** Reasons of a process of ours, in its log, in Events and in answers of Viola. */
export const partReasons = {
  RightsMissing: row(
    'part',
    true,
    [
      'The part may not do something that it has to; it is not ready.',
      '파트에 필요한 권한이 없어 Ready가 아닙니다.',
    ],
    [
      'The log names each right, its role, and a command that adds it; no restart is needed.',
      '로그에 권한, 역할, 추가 명령이 나옵니다. 재시작은 필요 없습니다.',
    ],
  ),
  CRDTooOld: row(
    'part',
    true,
    [
      'The installed CustomResourceDefinition lacks fields of this version, which would be dropped in silence; the part is not ready, and a controller does not lead.',
      '설치된 CRD에 이 버전의 필드가 없어 기록한 값이 조용히 사라질 수 있습니다. 파트는 Ready가 아니며 컨트롤러는 리더가 되지 않습니다.',
    ],
    [
      'Apply the definitions of this version; the message has the command.',
      '이 버전의 CRD를 적용하십시오. 명령은 메시지에 있습니다.',
    ],
  ),
  CRDTooNew: row(
    'part',
    false,
    [
      'The installed CustomResourceDefinition has fields that this version does not know; it leaves them alone.',
      '설치된 CRD에 이 버전이 모르는 필드가 있습니다. 해당 필드는 건드리지 않습니다.',
    ],
    [
      'Upgrade the part, or ignore it while you do.',
      '파트를 업그레이드하십시오. 업그레이드 중이면 무시해도 됩니다.',
    ],
  ),
  TriggerConfigUnusable: row(
    'part',
    false,
    [
      'The ConfigMap that says when OpenstackConfigs are looked at cannot be used; what held before goes on, after a restart as in mode manual.',
      'OpenstackConfig를 언제 조회할지 정하는 ConfigMap을 사용할 수 없습니다. 이전 설정이 계속 적용되며, 재시작 후에는 manual 모드로 동작합니다.',
    ],
    [
      'Correct the field of trigger.yaml that the message names; no restart is needed.',
      '메시지에 나온 trigger.yaml 필드를 수정하십시오. 재시작은 필요 없습니다.',
    ],
  ),
} as const satisfies Record<string, ReasonRow>;
