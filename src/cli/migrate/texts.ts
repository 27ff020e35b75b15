import { counted } from '../../api/counted.ts';
import { namedSome, namedSomeInKorean } from '../../api/named-some.ts';
import { migrateTexts } from '../../api/texts/migrate.ts';
import { filled } from '../../api/texts/text.ts';
import type { Language } from '../options.ts';
import type { Applied } from './apply.ts';
import type { Reverted } from './back.ts';
import { type Source, sourceText } from './source.ts';

/** Questions before a change. */
export const questions = {
  apply: (source: Source, lang: Language) =>
    filled(migrateTexts.mayMigrate, { sourceText: sourceText(source) })[lang],
  back: (source: Source, lang: Language) =>
    filled(migrateTexts.mayGoBack, { sourceText: sourceText(source) })[lang],
};

export function notMigratedText(source: Source, lang: Language): string {
  return filled(migrateTexts.notMigrated, { sourceText: sourceText(source) })[lang];
}

/** OpenstackConfigs take over objects without source only with this setting. */
const nextStep = {
  en: "Next: list the OpenstackConfigs for these nodes in the operator's LEGACY_TAKE_OVER (NAMESPACE or NAMESPACE/NAME; chart value operator.settings.legacyTakeOver), create them, and empty the setting when they are Ready.",
  ko: '다음: 이 노드들을 전달할 OpenstackConfig를 오퍼레이터의 LEGACY_TAKE_OVER(NAMESPACE 또는 NAMESPACE/NAME, 차트 값 operator.settings.legacyTakeOver)에 적고 OpenstackConfig를 생성하십시오. 모두 Ready가 되면 설정을 비우십시오.',
} as const;

export function appliedText(
  { created, released, existing, refused }: Applied,
  lang: Language,
): string {
  if (lang === 'ko') {
    return [
      `객체 ${created.length}개를 생성하고 객체 ${released.length}개의 레이블을 제거했습니다.`,
      ...existing.map((node) => `${node}: 다른 작성자가 객체를 생성했으며 객체는 그대로입니다.`),
      ...refused.map(
        ({ node, message }) =>
          `${node}: API 서버가 객체를 거부했습니다: ${message}. 이를 수정하고 apply를 다시 실행하십시오.`,
      ),
      nextStep.ko,
    ].join('\n');
  }
  return [
    `Created ${counted(created.length, 'object')}, removed the label of ${counted(released.length, 'object')}.`,
    ...existing.map((node) => `${node}: another writer created its object, which stays unchanged.`),
    ...refused.map(
      ({ node, message }) =>
        `${node}: the API server refused its object: ${message}; correct this, and run apply again.`,
    ),
    nextStep.en,
  ].join('\n');
}

/** Most nodes in a message; further nodes are counted. */
export const shownNodes = 5;

/** Returns the warning before `back`; `nodes` differ from their entries, or have none. */
export function changingText(source: Source, nodes: readonly string[], lang: Language): string {
  if (lang === 'ko') {
    return `노드 ${nodes.length}개가 ${sourceText(source)}와 다릅니다. "back" 후 컨트롤러가 ${namedSomeInKorean(nodes, shownNodes)}의 NIC를 변경하거나 제거합니다. 이를 피하려면 먼저 수정을 되돌리십시오.`;
  }
  return `${counted(nodes.length, 'node differs', 'nodes differ')} from ${sourceText(source)}: after "back", the controller changes or removes NICs of ${namedSome(nodes, shownNodes)}. To avoid this, undo the edit first.`;
}

export function revertText(
  source: Source,
  { restored, left, isFollowed }: Reverted,
  lang: Language,
): string {
  if (lang === 'ko') {
    const next = isFollowed
      ? '컨트롤러가 다시 따릅니다.'
      : '컨트롤러가 아직 확인하지 않았습니다. controller.bizConfig.mode=active로 실행 중인지 확인하십시오.';
    return [
      ...left.map(
        ({ node, writer }) => `${node}: 그 이후 ${writer}가 객체를 작성했으며 객체는 그대로입니다.`,
      ),
      `객체 ${restored.length}개의 레이블과 ${sourceText(source)}의 모드를 복원했습니다. ${next}`,
    ].join('\n');
  }
  const next = isFollowed
    ? 'The controller follows it again.'
    : 'The controller has not confirmed this yet: check that it runs with controller.bizConfig.mode=active.';
  return [
    ...left.map(
      ({ node, writer }) =>
        `${node}: ${writer} has written its object since then; the object stays unchanged.`,
    ),
    `Restored the label of ${counted(restored.length, 'object')} and the mode of ${sourceText(source)}. ${next}`,
  ].join('\n');
}

/** Returns the steps after `apply`, in order. */
export function nextStepsText(source: Source, lang: Language): string {
  const { name, namespace } = source.config.metadata;
  const resource = `multinicbizconfigs.${source.group}`;
  const flags = `${name} -n ${namespace} --group ${source.group}`;
  const command = `kubectl -n ${namespace} delete ${resource} ${name}`;
  if (lang === 'ko') {
    return [
      '다음 조치:',
      `  1. multinic migrate biz-config verify ${flags}`,
      '  2. Viola가 각 노드를 작성하게 하십시오. Viola는 필드 매니저 biz-config의 객체를 넘겨받습니다.',
      '  3. MultiNicBizConfig가 더 이상 필요 없으면: 차트 multinic-agent, controller.bizConfig.mode=off (--biz-config=off).',
      `  4. ${command} (모든 객체와 NIC는 유지됩니다).`,
      `4번 이전에 되돌리려면: multinic migrate biz-config back ${flags}`,
    ].join('\n');
  }
  return [
    'Next:',
    `  1. multinic migrate biz-config verify ${flags}`,
    '  2. Let Viola write each node; it takes the objects over from field manager biz-config.',
    '  3. When no MultiNicBizConfig is needed any more: chart multinic-agent, controller.bizConfig.mode=off (--biz-config=off).',
    `  4. ${command} (all objects and NICs stay).`,
    `To go back before step 4: multinic migrate biz-config back ${flags}`,
  ].join('\n');
}
