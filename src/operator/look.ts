import * as z from 'zod';
import type { HeldNode } from '../api/node-configs-http.ts';
import type { Store as ObjectStore } from '../kube/cache/store.ts';
import type { KubeClient } from '../kube/client/client.ts';
import { keyOf } from '../kube/object.ts';
import type { Clouds } from '../openstack/clouds.ts';
import type { Violas } from './deliver/violas.ts';
import { takeBack } from './finish.ts';
import type { Inventory } from './inventory.ts';
import { type Authorities, cloudOf } from './observe/cloud-access.ts';
import type { CloudViews } from './observe/cloud-views.ts';
import { type ConfigObject, generationOf, ownerOf } from './openstack-config.ts';
import { nodesAfter } from './record.ts';
import { encryptKeyOf } from './resolve/encrypt-key.ts';
import type { ResolvedConfig } from './resolve/resolve.ts';
import type { OperatorSettings } from './settings.ts';
import { StepFailure, type Trouble } from './status/step-failure.ts';
import { type SyncDeps, type SyncResult, sync } from './sync.ts';

export interface LookDeps extends SyncDeps {
  readonly client: Pick<KubeClient, 'find'>;
  readonly configs: Pick<ObjectStore<ConfigObject>, 'list'>;
  readonly settings: OperatorSettings;
  readonly authorities: Authorities;
  readonly clouds: Clouds;
  readonly views: CloudViews;
  readonly violas: Violas;
  readonly inventory: Inventory;
}

export interface LookInput {
  readonly object: ConfigObject;
  readonly config: ResolvedConfig;
  readonly force: boolean;
  readonly allowRemovals: boolean;
  readonly maxAgeMs: number;
  readonly beforeDelivery: () => Promise<void>;
}

export interface Looked {
  readonly result: SyncResult;
  /** Nodes in a business cluster that the OpenstackConfig names no longer. */
  readonly leaving: readonly HeldNode[];
}

/** From the key of Contrabass to the inventory: the steps of a live OpenstackConfig, in order. Throws StepFailure. */
export async function look(input: LookInput, deps: LookDeps, signal: AbortSignal): Promise<Looked> {
  const { object, config } = input;
  const { settings, violas } = deps;
  const owner = ownerOf(object);
  const source = { ...owner, generation: generationOf(object) };
  const keys = { client: deps.client, operatorKey: settings.contrabassEncryptKey };
  const key = await encryptKeyOf(config, owner.namespace, keys, signal);
  const access = { ...deps, allowedEndpoints: settings.allowedEndpoints };
  const cloud = await cloudOf(config, key, access, signal);
  const viola = violas.of(config.viola, config.providerId);
  const synced = await sync(
    {
      ...input,
      source,
      view: deps.views.of(cloud, keyOf(object)),
      viola,
      cloudInterfaces: (held) => interfacesOfCloud(held, config, deps.configs),
    },
    deps,
    signal,
  );
  await deps.inventory.record(config.providerId, source, nodesAfter(synced, owner));
  const { leaving, troubles } = await leaveOthers(input, deps, signal);
  return { result: { ...synced, troubles: [...synced.troubles, ...troubles] }, leaving };
}

/** NICs among these nodes that come from the same cloud as ours, whichever OpenstackConfig delivered them. */
function interfacesOfCloud(
  held: readonly HeldNode[],
  { openstackProviderId }: ResolvedConfig,
  configs: LookDeps['configs'],
): number {
  const sameCloud = new Set(
    configs
      .list()
      .filter((other) => providerIdOf(other) === openstackProviderId)
      .map((other) => keyOf(other)),
  );
  return held
    .filter(({ source }) => source && sameCloud.has(keyOf(source)))
    .reduce((sum, { spec }) => sum + (spec.interfaces?.length ?? 0), 0);
}

const provided = z.object({ credentials: z.object({ openstackProviderID: z.string() }) });

function providerIdOf({ spec }: ConfigObject): string | undefined {
  return provided.safeParse(spec).data?.credentials.openstackProviderID.trim();
}

/** Nodes that were delivered to another business cluster before the CR named this one go there. */
async function leaveOthers(
  { object, config }: LookInput,
  { inventory, violas, perform }: LookDeps,
  signal: AbortSignal,
): Promise<{ readonly leaving: readonly HeldNode[]; readonly troubles: readonly Trouble[] }> {
  const owner = ownerOf(object);
  const author = { ...owner, generation: generationOf(object) };
  const leaving: HeldNode[] = [];
  const troubles: Trouble[] = [];
  for (const [provider, known] of await inventory.nodesOf(owner)) {
    if (provider === config.providerId) continue;
    try {
      const viola = violas.of(config.viola, provider);
      const left = await takeBack({ viola, owner, known, perform }, signal);
      if (left.length === 0) await inventory.record(provider, author, []);
      leaving.push(...left);
    } catch (error) {
      // What was delivered here counts all the same.
      if (!(error instanceof StepFailure)) throw error;
      const message = `nodes in business cluster "${provider}" cannot be removed: ${error.message}`;
      troubles.push({ reason: error.reason, message });
    }
  }
  return { leaving, troubles };
}
