import type { BudgetView, PlanView } from '../../api/read-http.ts';
import { screensTexts } from '../../api/texts/screens.ts';
import type { Wording } from '../../api/texts/text.ts';
import type { Language } from '../options.ts';
import { aligned } from '../output/table.ts';
import { printable } from '../output/width.ts';

type PlannedNode = PlanView['nodes'][number];

/** Returns a line per node with NICs that stay without evidence. */
export function unconfirmedLines({ nodes }: Pick<PlanView, 'nodes'>, lang: Language): string[] {
  const why = screensTexts.staysWithoutEvidence[lang];
  return nodes.flatMap((node) => {
    const names = withoutEvidence(node);
    return names.length > 0 ? [printable(`? ${node.nodeName}  ${names.join(', ')}  ${why}`)] : [];
  });
}

/** Held NICs have lines of their own. */
function withoutEvidence({ unconfirmedRemovals, heldNics = [] }: PlannedNode): readonly string[] {
  const held = new Set(heldNics.flatMap(({ name, macAddress }) => [name, macAddress]));
  return unconfirmedRemovals.filter((nic) => !held.has(nic));
}

interface HeldNodes {
  readonly nodes: readonly Pick<PlannedNode, 'nodeName' | 'heldNics'>[];
}

/** Returns a line per NIC whose removal waits for consent: basis, and code of the hold. */
export function holdLines({ nodes }: HeldNodes, lang: Language): string[] {
  const rows = nodes.flatMap(({ nodeName, heldNics = [] }) =>
    heldNics.map(({ name, macAddress, basis, code }) => [
      `= ${nodeName}`,
      name ?? '',
      `mac ${macAddress}`,
      code === undefined ? '' : `${codes[code][lang]} (${code})`,
      basis === undefined ? '' : `${screensTexts.basis[lang]} ${basis}`,
    ]),
  );
  return rows.length > 0 ? [aligned(rows.map((row) => row.map(printable)))] : [];
}

type HoldCode = NonNullable<NonNullable<PlannedNode['heldNics']>[number]['code']>;

const codes: Readonly<Record<HoldCode, Wording>> = {
  OverBudget: { en: 'waits: above the budget', ko: '대기: 한도 초과' },
  NotCounted: {
    en: 'waits: removals of the hour unknown',
    ko: '대기: 한 시간의 제거를 알 수 없음',
  },
  SideEffect: { en: 'waits: side effect of another change', ko: '대기: 다른 변경의 부수 효과' },
  NotKnownYet: { en: 'waits: no agent has read the node', ko: '대기: 에이전트가 노드를 읽지 않음' },
};

const scopes: Readonly<Record<BudgetView['scope'], Wording>> = {
  clusterNodes: { en: 'nodes of the business cluster', ko: '비즈니스 클러스터의 노드' },
  clusterNics: { en: 'NICs of the business cluster', ko: '비즈니스 클러스터의 NIC' },
  configNics: { en: 'NICs of this OpenstackConfig', ko: '이 OpenstackConfig의 NIC' },
};

/** Returns the use of each budget; empty: the operator reports none. */
export function budgetLines({ budgets = [] }: Pick<PlanView, 'budgets'>, lang: Language): string[] {
  if (budgets.length === 0) return [];
  const head = screensTexts.removalBudgets[lang];
  const rows = budgets.map((budget) => [`  ${scopes[budget.scope][lang]}`, useOf(budget, lang)]);
  return [head, aligned(rows)];
}

function useOf({ used, total, allowed, freeAt }: BudgetView, lang: Language): string {
  if (lang === 'ko') {
    const free = freeAt === undefined ? '' : `, ${freeAt}부터 다시 비워짐`;
    return `허용 ${allowed}개 중 ${used}개 사용(전체 ${total}개)${free}`;
  }
  const free = freeAt === undefined ? '' : `, free again from ${freeAt}`;
  return `${used} used of ${allowed} allowed (${total} in total)${free}`;
}
