import { type ReasonRow, row } from './reason-row.ts';

/** Reasons about access to Viola, used in Events and Viola's answers. */
export const accessReasons = {
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
