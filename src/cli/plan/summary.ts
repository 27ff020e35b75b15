import { counted } from '../../api/counted.ts';
import type { PlanView } from '../../api/read-http.ts';
import { screensTexts } from '../../api/texts/screens.ts';
import { amount, filled } from '../../api/texts/text.ts';
import type { Language } from '../options.ts';
import { printable } from '../output/width.ts';

type NicChange = PlanView['nodes'][number]['nics'][number];

/** Returns the lines below the changes: sums, Viola's dry run, scope and hash of the plan. */
export function summaryLines(plan: PlanView, lang: Language): string[] {
  return [
    ...sumLines(plan, lang),
    ...dryRunLines(plan, lang),
    ...networkLines(plan, lang),
    ...noteLines(plan, lang),
  ];
}

function sumLines({ nodes, unchanged, agentJobs }: PlanView, lang: Language): string[] {
  const nics = nodes.flatMap((node) => node.nics);
  const count = (change: NicChange['change']) => nics.filter((nic) => nic.change === change).length;
  const changing = nodes.filter(({ action }) => action !== 'none').length;
  const all = changing + unchanged;
  const [added, changed, removed] = [count('add'), count('change'), count('remove')];
  if (lang === 'ko') {
    return changing === 0
      ? [`노드 ${all}개에 변경 사항이 없습니다.`]
      : [
          `노드 ${all}개 중 ${changing}개에서 NIC ${added}개 추가, ${changed}개 변경, ${removed}개 제거. 에이전트 Job ${agentJobs}개가 시작됩니다. 나머지 노드는 그대로입니다.`,
        ];
  }
  if (changing === 0) return [`No changes on ${counted(all, 'node')}.`];
  return [
    `${counted(added, 'NIC')} added, ${changed} changed, ${removed} removed on ${changing} of ${counted(all, 'node')}. ${counted(agentJobs, 'agent Job')} would start. Other nodes stay as they are.`,
  ];
}

function dryRunLines({ dryRun }: PlanView, lang: Language): string[] {
  if (dryRun === undefined) return [];
  if (!dryRun.validated) {
    const text = screensTexts.notValidated[lang];
    return [`${text}: ${printable(dryRun.message)}`];
  }
  const { results = [], errors = [] } = dryRun.answer ?? {};
  const all = results.length + errors.length;
  return [
    filled(screensTexts.dryRun, { length: results.length, nodes: amount(all, 'node') })[lang],
    ...errors.map(({ nodeName, field, message }) =>
      printable(`! ${nodeName}${field ? ` ${field}` : ''}: ${message}`),
    ),
  ];
}

function networkLines({ networks }: PlanView, lang: Language): string[] {
  if (networks !== undefined) return [];
  return [screensTexts.networksUnknown[lang]];
}

function noteLines({ hash }: PlanView, lang: Language): string[] {
  const short = hash.slice(0, 8);
  return lang === 'ko'
    ? [
        '계획은 노드의 커널을 조회하지 않습니다. 노드와 비교하려면 kubectl multinic diff NODE를 실행하십시오.',
        `계획 해시: ${short}. OpenstackConfig, OpenStack 또는 비즈니스 클러스터가 바뀌면 해시도 바뀝니다.`,
      ]
    : [
        'The plan does not read the kernel of the nodes. To compare a node, run kubectl multinic diff NODE.',
        `Plan hash: ${short}. It changes when the OpenstackConfig, OpenStack or the business cluster changes.`,
      ];
}
