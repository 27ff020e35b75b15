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
      'The installed CustomResourceDefinition lacks fields of this version, which would be dropped in silence; the part is not ready.',
      '설치된 CRD에 이 버전의 필드가 없어 기록한 값이 조용히 사라질 수 있습니다. 파트는 Ready가 아닙니다.',
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
  ViolaAccessFailed: row(
    'part',
    true,
    [
      'The operator cannot keep a Secret by which it and Viola know each other; it goes on with what it has.',
      '오퍼레이터가 Viola와 서로를 확인하는 Secret을 관리하지 못하고 있으며, 현재 가진 값으로 계속 동작합니다.',
    ],
    [
      'Do what the message says: grant the right, or delete the Secret that somebody else made.',
      '메시지에 따라 권한을 부여하거나 다른 주체가 만든 Secret을 삭제하십시오.',
    ],
  ),
  LegacyListener: row(
    'part',
    false,
    [
      'Viola takes node configs without a token from the addresses of --legacy-allow-from.',
      'Viola가 --legacy-allow-from 주소에서 토큰 없이 노드 설정을 받고 있습니다.',
    ],
    [
      'Switch the listener off when the deployed operator is gone.',
      '기존 오퍼레이터를 제거한 뒤 이 리스너를 끄십시오.',
    ],
  ),
} as const satisfies Record<string, ReasonRow>;
