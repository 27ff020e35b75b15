import type { Owner } from '../../plan/plan.ts';
import type { Inventory } from '../inventory.ts';

/** Business clusters that nodes of an OpenstackConfig are in, or may be in. */
export interface Occupied {
  /** With the nodes that the inventory knows by name. */
  readonly clusters: ReadonlyMap<string, readonly string[]>;
  /** False while the inventory, which may know more, cannot be read. */
  readonly complete: boolean;
}

/** What the status says and the inventory knows. */
export async function occupiedBy(
  owner: Owner,
  deliveredTo: readonly string[] | undefined,
  inventory: Pick<Inventory, 'nodesOf'>,
): Promise<Occupied> {
  const recorded = await inventory.nodesOf(owner);
  const named = (deliveredTo ?? []).map((provider) => [provider, []] as const);
  return { clusters: new Map([...named, ...(recorded ?? [])]), complete: recorded !== undefined };
}
