import type { Wording } from './text.ts';

/** Texts in the answers of the dashboard's screens. */
export const dashboardTexts = {
  noConfigs: {
    en: 'No OpenstackConfig exists yet. Create an OpenstackConfig with a cloud, subnets and servers.',
    ko: 'OpenstackConfig가 아직 없습니다. 클라우드, 서브넷, 서버를 지정한 OpenstackConfig를 만드십시오.',
  },
  writeBundle: {
    en: 'Write a support bundle: a file without secrets, for support.',
    ko: '지원용 번들을 만드십시오. 비밀 값이 없는 파일입니다.',
  },
  portCreated: {
    en: 'Port {portId} was created in Neutron',
    ko: 'Neutron에서 포트 {portId}를 만들었습니다',
  },
  nicAdded: {
    en: 'Planned: new NIC {name} ({config}, generation {generation})',
    ko: '계획: 새 NIC {name} ({config}, generation {generation})',
  },
  nicChanged: {
    en: 'Planned: {fields} of {name} changed ({config}, generation {generation})',
    ko: '계획: {name}의 {fields} 변경 ({config}, generation {generation})',
  },
  portReplaced: {
    en: 'Port {portId} took over {name} ({config}, generation {generation})',
    ko: '포트 {portId}가 {name}를 이어받았습니다 ({config}, generation {generation})',
  },
  nicRemoved: {
    en: 'Planned: {name} leaves the node, basis {basis} ({config}, generation {generation})',
    ko: '계획: {name} 제거, 근거 {basis} ({config}, generation {generation})',
  },
  delivered: {
    en: 'Delivered through Viola, or compared',
    ko: 'Viola를 통해 전달했거나 비교했습니다',
  },
  notDelivered: {
    en: 'Delivery through Viola failed: {message}',
    ko: 'Viola를 통한 전달이 실패했습니다: {message}',
  },
  stateSince: {
    en: 'The NIC became {state}{message}',
    ko: 'NIC 상태가 {state}가 되었습니다{message}',
  },
  nicChecked: {
    en: 'An agent checked the NIC',
    ko: '에이전트가 NIC를 확인했습니다',
  },
  ofGeneration: {
    en: 'generation {generation} of the OpenstackConfig, or a new agent image',
    ko: 'OpenstackConfig의 generation {generation}, 또는 새 에이전트 이미지',
  },
  ofSource: {
    en: 'a new agent image',
    ko: '새 에이전트 이미지',
  },
  ofSetting: {
    en: 'changed setting {setting}',
    ko: '변경된 설정 {setting}',
  },
  ofUnknownSetting: {
    en: 'a changed setting',
    ko: '변경된 설정',
  },
  ofUnknownChange: {
    en: 'a change for several nodes',
    ko: '여러 노드의 변경',
  },
} as const satisfies Readonly<Record<string, Wording>>;
