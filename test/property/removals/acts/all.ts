import type { Act } from './act.ts';
import { consents } from './consents.ts';
import { deletions } from './deletions.ts';
import { edits } from './edits.ts';
import { faults } from './faults.ts';
import { losses } from './losses.ts';
import { waits } from './waits.ts';

const table: Readonly<Record<string, readonly [Act, number]>> = {
  ...edits,
  ...deletions,
  ...consents,
  ...losses,
  ...faults,
  ...waits,
};

/** Relative frequency of each act. */
export const weights: Readonly<Record<string, number>> = Object.fromEntries(
  Object.entries(table).map(([name, [, weight]]) => [name, weight]),
);

export function actOf(name: string): Act {
  const [act] = table[name] ?? [];
  if (!act) throw new Error(`there is no act ${name}`);
  return act;
}
