import type { Effect } from '../../api/effects.ts';
import type { HeldNode } from '../../api/node-configs-http.ts';
import { type OpenstackConfigSpec, openstackConfigSpec } from '../../api/openstackconfig.ts';
import type { Perform } from '../../process/effects.ts';
import { violaFailure } from '../deliver/delivery-rounds.ts';
import type { Violas } from '../deliver/violas.ts';
import type { Inventory } from '../inventory.ts';
import { type ConfigObject, ownerOf } from '../openstack-config.ts';
import { resolveEndpoints } from '../resolve/endpoints.ts';
import { Fields, trimmed } from '../resolve/fields.ts';
import type { OperatorSettings } from '../settings.ts';
import { StepFailure } from '../status/step-failure.ts';
import { type WithdrawInput, withdraw } from './withdraw.ts';

export interface FinishDeps {
  readonly settings: OperatorSettings;
  readonly violas: Violas;
  readonly inventory: Inventory;
  readonly perform: Perform<Effect>;
}

/**
 * Takes back what was delivered for an OpenstackConfig that is being deleted; answers the nodes that are not clean yet.
 * What is ours is what the objects themselves say, so OpenStack is not asked. Throws StepFailure.
 */
export async function finish(
  object: ConfigObject,
  { settings, violas, inventory, perform }: FinishDeps,
  signal: AbortSignal,
): Promise<HeldNode[]> {
  const spec = openstackConfigSpec.safeParse(object.spec).data;
  if (spec?.settings?.deletionPolicy === 'Retain') return [];
  const owner = ownerOf(object);
  const recorded = await inventory.nodesOf(owner);
  const { endpoint, providers } = whereabouts(spec, recorded, settings);
  const left: HeldNode[] = [];
  for (const provider of providers) {
    const known = recorded.get(provider) ?? [];
    const input = { viola: violas.of(endpoint, provider), owner, known, perform };
    left.push(...(await takeBack(input, signal)));
  }
  return left;
}

const cannotFind =
  'the delivered nodes cannot be found without spec.settings.violaEndpoint and spec.credentials.k8sProviderID; set them again';

/** Where the nodes may be: what the CR names, and what was recorded of what it named before. */
function whereabouts(
  spec: OpenstackConfigSpec | undefined,
  recorded: ReadonlyMap<string, unknown>,
  settings: OperatorSettings,
) {
  const endpoint = spec && resolveEndpoints(spec, settings, new Fields()).viola;
  const { k8sProviderID, openstackProviderID } = spec?.credentials ?? {};
  const own = trimmed(k8sProviderID) ?? trimmed(openstackProviderID);
  const providers = new Set([...recorded.keys(), ...(own === undefined ? [] : [own])]);
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
