import type { Wording } from './text.ts';

/** Texts for `multinic migrate biz-config`. */
export const migrateTexts = {
  verified: {
    en: '{source}: {holding} of {nodes} nodes verified.',
    ko: '{source}: 노드 {nodes}개 중 {holding}개를 확인했습니다.',
  },
  skipped: {
    en: 'Skipped',
    ko: '건너뜀',
  },
  mayMigrate: {
    en: 'Migrate {source}?',
    ko: '{source}를 마이그레이션할까요?',
  },
  mayGoBack: {
    en: 'Let {source} control its nodes again?',
    ko: '{source}가 노드를 다시 제어하게 할까요?',
  },
  notMigrated: {
    en: '{source} is not migrated: there is nothing to do.',
    ko: '{source}는 마이그레이션되지 않았습니다. 할 일이 없습니다.',
  },
  planned: {
    en: '{source}: {nodes}{states}; migration {start}.',
    ko: '{source}: 노드 {nodes}개{states}; 마이그레이션 {start}.',
  },
  notStarted: {
    en: 'not started',
    ko: '시작 전',
  },
  startedAt: {
    en: 'started at {start}',
    ko: '시작 시각 {start}',
  },
  applied: {
    en: 'Created {created}, removed the label of {released}.',
    ko: '객체 {created}개를 생성하고 객체 {released}개의 레이블을 제거했습니다.',
  },
  createdElsewhere: {
    en: '{node}: another writer created its object, which stays unchanged.',
    ko: '{node}: 다른 작성자가 객체를 생성했으며 객체는 그대로입니다.',
  },
  objectRefused: {
    en: '{node}: the API server refused its object: {message}; correct this, and run apply again.',
    ko: '{node}: API 서버가 객체를 거부했습니다: {message}. 이를 수정하고 apply를 다시 실행하십시오.',
  },
  takeOver: {
    en: "Next: list the OpenstackConfigs for these nodes in the operator's LEGACY_TAKE_OVER (NAMESPACE or NAMESPACE/NAME; chart value operator.settings.legacyTakeOver), create them, and empty the setting when they are Ready.",
    ko: '다음: 이 노드들을 전달할 OpenstackConfig를 오퍼레이터의 LEGACY_TAKE_OVER(NAMESPACE 또는 NAMESPACE/NAME, 차트 값 operator.settings.legacyTakeOver)에 적고 OpenstackConfig를 생성하십시오. 모두 Ready가 되면 설정을 비우십시오.',
  },
  changesNodes: {
    en: '{differ} from {source}: after "back", the controller changes or removes NICs of {nodes}. To avoid this, undo the edit first.',
    ko: '노드 {differ}개가 {source}와 다릅니다. "back" 후 컨트롤러가 {nodes}의 NIC를 변경하거나 제거합니다. 이를 피하려면 먼저 수정을 되돌리십시오.',
  },
  followed: {
    en: 'The controller follows it again.',
    ko: '컨트롤러가 다시 따릅니다.',
  },
  notConfirmed: {
    en: 'The controller has not confirmed this yet: check that it runs with controller.bizConfig.mode=active.',
    ko: '컨트롤러가 아직 확인하지 않았습니다. controller.bizConfig.mode=active로 실행 중인지 확인하십시오.',
  },
  writtenSince: {
    en: '{node}: {writer} has written its object since then; the object stays unchanged.',
    ko: '{node}: 그 이후 {writer}가 객체를 작성했으며 객체는 그대로입니다.',
  },
  restored: {
    en: 'Restored the label of {objects} and the mode of {source}. {next}',
    ko: '객체 {objects}개의 레이블과 {source}의 모드를 복원했습니다. {next}',
  },
  steps: {
    en: `Next:
  1. multinic migrate biz-config verify {flags}
  2. Let Viola write each node; it takes the objects over from field manager biz-config.
  3. When no MultiNicBizConfig is needed any more: chart multinic-agent, controller.bizConfig.mode=off (--biz-config=off).
  4. {command} (all objects and NICs stay).
To go back before step 4: multinic migrate biz-config back {flags}`,
    ko: `다음 조치:
  1. multinic migrate biz-config verify {flags}
  2. Viola가 각 노드를 작성하게 하십시오. Viola는 필드 매니저 biz-config의 객체를 넘겨받습니다.
  3. MultiNicBizConfig가 더 이상 필요 없으면: 차트 multinic-agent, controller.bizConfig.mode=off (--biz-config=off).
  4. {command} (모든 객체와 NIC는 유지됩니다).
4번 이전에 되돌리려면: multinic migrate biz-config back {flags}`,
  },
} as const satisfies Readonly<Record<string, Wording>>;
