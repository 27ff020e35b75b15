import type { BudgetView, PlanView } from '../../api/read-http.ts';
import { screensTexts } from '../../api/texts/screens.ts';
import { filled, type Language } from '../../api/texts/text.ts';
import { budgetTitles, holdTitles } from '../../api/texts/titles.ts';
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

/** Held NICs have separate lines. */
function withoutEvidence({ unconfirmedRemovals, heldNics = [] }: PlannedNode): readonly string[] {
  const held = new Set(heldNics.flatMap(({ name, macAddress }) => [name, macAddress]));
  return unconfirmedRemovals.filter((nic) => !held.has(nic));
}

interface HeldNodes {
  readonly nodes: readonly Pick<PlannedNode, 'nodeName' | 'heldNics'>[];
}

/** Returns a line per NIC whose removal waits for consent: basis, and hold code. */
export function holdLines({ nodes }: HeldNodes, lang: Language): string[] {
  const rows = nodes.flatMap(({ nodeName, heldNics = [] }) =>
    heldNics.map(({ name, macAddress, basis, code }) => [
      `= ${nodeName}`,
      name ?? '',
      `mac ${macAddress}`,
      code === undefined ? '' : `${holdTitles[code][lang]} (${code})`,
      basis === undefined ? '' : `${screensTexts.basis[lang]} ${basis}`,
    ]),
  );
  return rows.length > 0 ? [aligned(rows.map((row) => row.map(printable)))] : [];
}

/** Returns each budget's use; empty: the operator reports none. */
export function budgetLines({ budgets = [] }: Pick<PlanView, 'budgets'>, lang: Language): string[] {
  if (budgets.length === 0) return [];
  const head = screensTexts.removalBudgets[lang];
  const rows = budgets.map((budget) => [
    `  ${budgetTitles[budget.scope][lang]}`,
    useOf(budget, lang),
  ]);
  return [head, aligned(rows)];
}

function useOf({ used, total, allowed, freeAt }: BudgetView, lang: Language): string {
  const free = freeAt === undefined ? '' : filled(screensTexts.freeFrom, { at: freeAt });
  return filled(screensTexts.budgetUse, { used, total, allowed, free })[lang];
}
