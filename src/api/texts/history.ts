import type { Wording } from './text.ts';

/** Texts about the NIC history, in `history` and `why`. */
export const historyTexts = {
  formerNic: {
    en: '; it was {name} of node {node}, removed at {at}{age}, basis {basis}{reach}',
    ko: '; 이 포트는 노드 {node}의 {name}이었고 {at}에 제거되었습니다{age}. 근거 {basis}{reach}',
  },
  noRemovalLogged: {
    en: '; the NIC history has no removal for it{reach}',
    ko: '; NIC 이력에 이 포트의 제거가 없습니다{reach}',
  },
  historyReach: {
    en: ' (history since {oldest})',
    ko: '(이력 시작 {oldest})',
  },
  historyWithoutReach: {
    en: ' (start of the history unknown)',
    ko: '(이력 시작 시각을 알 수 없음)',
  },
  historyUnread: {
    en: '; the NIC history was not read: {why}',
    ko: '; NIC 이력을 조회하지 못했습니다: {why}',
  },
  basisUnknown: {
    en: 'unknown',
    ko: '알 수 없음',
  },
  attachFormerPort: {
    en: 'if the node still needs the NIC, attach the port or a new port to the server again; the changes of the NIC:',
    ko: '노드에 이 NIC가 계속 필요하면 포트 또는 새 포트를 서버에 다시 연결하십시오. NIC의 변경 이력:',
  },
  noChangesLogged: {
    en: 'No changes.',
    ko: '변경 이력이 없습니다.',
  },
  reachesBack: {
    en: 'The history reaches back to {oldest}.',
    ko: '이력은 {oldest}부터입니다.',
  },
  unknownReach: {
    en: 'How far back the history reaches is unknown: it is empty, or the operator is of an earlier release.',
    ko: '이력이 비어 있거나 오퍼레이터가 이전 릴리스여서 이력의 시작 시각을 알 수 없습니다.',
  },
} as const satisfies Readonly<Record<string, Wording>>;
