import type { Effect } from '../../api/effects.ts';
import type { HeldNode } from '../../api/node-configs-http.ts';
import { type OpenstackConfigSpec, openstackConfigSpec } from '../../api/openstackconfig.ts';
import type { Perform } from '../../process/effects.ts';
import { violaFailure } from '../deliver/delivery-rounds.ts';
import type { UnansweredPosts } from '../deliver/unanswered-posts.ts';
import type { Violas } from '../deliver/violas.ts';
import type { Inventory } from '../inventory.ts';
import { type ConfigObject, ownerOf, statusOf } from '../openstack-config.ts';
import { resolveViola } from '../resolve/endpoints.ts';
import { Fields, trimmed } from '../resolve/fields.ts';
import type { OperatorSettings } from '../settings.ts';
import { StepFailure } from '../status/step-failure.ts';
import { type Occupied, occupiedBy } from './occupied.ts';
import { type WithdrawInput, withdraw } from './withdraw.ts';

export interface FinishDeps {
  readonly settings: OperatorSettings;
  readonly violas: Violas;
  readonly inventory: Inventory;
  readonly unanswered: UnansweredPosts;
  readonly perform: Perform<Effect>;
}

/** What keeps a deleted object. */
export interface Left {
  readonly nodes: readonly HeldNode[];
  /** Business clusters that something which was sent may still come into, and for how long. */
  readonly open: readonly { readonly providerId: string; readonly ms: number }[];
}

/**
 * Takes back what was delivered for an OpenstackConfig that is being deleted; answers what keeps it.
 * What is ours is what the objects themselves say, so OpenStack is not asked. Throws StepFailure.
 */
export async function finish(
  object: ConfigObject,
  { settings, violas, inventory, unanswered, perform }: FinishDeps,
  signal: AbortSignal,
): Promise<Left> {
  const spec = openstackConfigSpec.safeParse(object.spec).data;
  if (spec?.settings?.deletionPolicy === 'Retain') return { nodes: [], open: [] };
  const owner = ownerOf(object);
  const occupied = await occupiedBy(owner, statusOf(object).deliveredTo, inventory);
  const { endpoint, providers } = whereabouts(spec, occupied, settings);
  const nodes: HeldNode[] = [];
  // Before anything is read: what comes after that is not seen.
  const open = [...providers]
    .map((providerId) => ({ providerId, ms: unanswered.openForMs(owner, providerId) }))
    .filter(({ ms }) => ms > 0);
  for (const provider of providers) {
    const viola = await violas.of(endpoint, provider);
    const input = { viola, owner, known: occupied.clusters.get(provider) ?? [], perform };
    nodes.push(...(await takeBack(input, signal)));
  }
  if (nodes.length === 0 && !occupied.complete) throw unknownNodes();
  return { nodes, open };
}

function unknownNodes(): StepFailure {
  const message =
    'every node that is listed is clean, but the inventory, which may know more, cannot be read';
  return new StepFailure({ reason: 'InventoryUnavailable', message });
}

const cannotFind =
  'the delivered nodes cannot be found without spec.settings.violaEndpoint and spec.credentials.k8sProviderID; set them again';

/** Where the nodes may be: what the CR names, and what is known of what it named before. */
function whereabouts(
  spec: OpenstackConfigSpec | undefined,
  { clusters }: Occupied,
  settings: OperatorSettings,
) {
  const fields = new Fields();
  const endpoint = spec && resolveViola(spec, settings, fields);
  const [denied] = fields.problems.filter(({ reason }) => reason === 'PolicyDenied');
  if (denied) throw new StepFailure(denied);
  const { k8sProviderID, openstackProviderID } = spec?.credentials ?? {};
  const own = trimmed(k8sProviderID) ?? trimmed(openstackProviderID);
  const providers = new Set([...clusters.keys(), ...(own === undefined ? [] : [own])]);
  if (!endpoint?.url || providers.size === 0) {
    throw new StepFailure({ reason: 'ConfigError', message: cannotFind });
  }
  return { endpoint, providers };
}

/** Takes back the nodes of an OpenstackConfig in one business cluster. */
export async function takeBack(input: WithdrawInput, signal: AbortSignal): Promise<HeldNode[]> {
  try {
    return await withdraw(input, signal);
  } catch (error) {
    signal.throwIfAborted();
    throw violaFailure(error);
  }
}
