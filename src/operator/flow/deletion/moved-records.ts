import type { ExistingNodeConfig } from '../../../api/node-configs-http.ts';
import type { Author } from '../../../store/node-configs.ts';
import type { Inventory } from '../inventory-records/inventory.ts';

/** One id of a business cluster, with an OpenstackConfig's node names in the inventory. */
interface Recorded {
  readonly provider: string;
  readonly source: Author;
  readonly known: readonly string[];
}

/** Removes an id's records when a further id delivers these objects; the history logs no removal. */
export async function dropMoved(
  moved: readonly ExistingNodeConfig[],
  { provider, source, known }: Recorded,
  inventory: Pick<Inventory, 'record'>,
): Promise<void> {
  const names = new Set(moved.map(({ nodeName }) => nodeName));
  const rest = known.filter((name) => !names.has(name));
  if (rest.length === known.length) return;
  const details = { unknown: rest, moved: uidsOf(moved) };
  await inventory.record(provider, source, [], details);
}

export function uidsOf(nodes: readonly ExistingNodeConfig[]): ReadonlySet<string> {
  return new Set(nodes.map(({ uid }) => uid));
}
