import { type ReasonRow, row } from './reason-row.ts';

/** Reasons about access to Viola, used in Events and Viola's answers. */
export const accessReasons = {
  ViolaAccessFailed: row(
    'part',
    true,
    [
      'The operator cannot read, write or renew a Secret that it shares with Viola; the current token and certificate stay in use.',
      '오퍼레이터가 Viola와 공유하는 Secret을 읽거나 쓰거나 갱신하지 못합니다. 현재 토큰과 인증서는 계속 사용됩니다.',
    ],
    [
      'Follow the message: grant the missing right, or delete the Secret that the operator did not create.',
      '메시지에 따라 빠진 권한을 부여하거나 오퍼레이터가 만들지 않은 Secret을 삭제하십시오.',
    ],
  ),
  LegacyListener: row(
    'part',
    false,
    [
      'Viola accepts node configs without a token from the networks in --legacy-allow-from.',
      'Viola가 --legacy-allow-from의 네트워크에서 토큰 없이 노드 설정을 받고 있습니다.',
    ],
    [
      'Unset --legacy-listener once the legacy operator is removed.',
      '기존 시스템의 오퍼레이터를 제거한 뒤 --legacy-listener를 해제하십시오.',
    ],
  ),
} as const satisfies Record<string, ReasonRow>;
