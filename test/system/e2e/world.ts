import { createHash, randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { type Node, startNode } from '../../../rig/control-plane/node.ts';
import { mortalAgentImage, packMortalAgent } from './agent-image.ts';
import type { Forwarded } from './forwarded.ts';
import { type Ground, type GroundOptions, openGround, provider } from './ground.ts';
import {
  forwardedInventory,
  forwardedViola,
  helmInstall,
  namespaces,
  partsOf,
  registerCluster,
} from './installation.ts';
import type { PartsInPods } from './pods.ts';
import { reachable } from './reachable.ts';
import { shippedImages } from './shipped-images.ts';

const root = join(import.meta.dirname, '../../..');
const ours = join(root, 'charts');

/** The chain as it is installed: both charts by helm, every part in a Pod. */
export interface World extends Ground, AsyncDisposable {
  /** The management cluster's node. */
  readonly manager: Node;
  /** Settings of the operator that say where the cloud is. */
  readonly endpoints: Readonly<Record<string, string>>;
  readonly parts: PartsInPods;
  readonly viola: Forwarded;
  readonly inventory: Forwarded;
  readonly tokens: Readonly<Record<'foreign' | 'readOnly', string>>;
  /** Id of the agent's image as it was built; the Pod's imageID has to be the same. */
  readonly imageId: string;
}

export interface WorldOptions extends Pick<GroundOptions, 'profiles' | 'zone'> {
  /** Values of which environment. */
  readonly type: 'dev' | 'production';
  /** Whether agents can be made to die at one of their writes. */
  readonly mortalAgent?: boolean;
}

/** Brings everything up, or nothing: what was started is taken down again when a step fails. */
export async function openWorld(
  say: (line: string) => void,
  { type, mortalAgent = false, profiles, zone }: WorldOptions,
): Promise<World> {
  await using stack = new AsyncDisposableStack();
  const images = await shippedImages();
  const keystoneFor = async (management: Ground['management'], url: string) =>
    stack.use(await reachable(management, url)).url;
  const ground = await openGround(stack, {
    say,
    profiles,
    zone,
    images: [images.controllers.file, images.agent.file],
    pods: true,
    keystoneFor,
  });
  const { management, business, directory } = ground;
  const manager = stack.use(await startNode(management, 'manager-1', { kind: 'namespace' }));
  await manager.importImage(images.controllers.file);
  await management.link(business);
  if (mortalAgent) {
    const { archive } = await packMortalAgent(directory);
    for (const { node } of ground.workers) await node.importImage(archive);
  }
  say('nodes have the images');

  await giveKey(ground);
  const endpoints = await relayedEndpoints(ground, stack);
  const values = mortalAgent ? withMortalAgent() : {};
  await installCharts({ ...ground, endpoints }, { type, values });
  say(await registerCluster(ground, provider));
  const parts = partsOf(ground, { operator: 1, viola: 1, controller: 1 });
  for (const part of ['operator', 'viola', 'controller'] as const) await parts.ready(part);
  const tokens = { foreign: newToken(), readOnly: newToken() };
  await grant(ground, tokens);
  const viola = stack.use(await forwardedViola(management));
  const inventory = stack.use(forwardedInventory(management));
  const kept = stack.move();
  return {
    ...ground,
    manager,
    endpoints,
    parts,
    viola,
    inventory,
    tokens,
    imageId: images.agent.id,
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

export interface Installed {
  readonly type: WorldOptions['type'];
  /** Folder of the charts; default: ours. */
  readonly charts?: string;
  /** Values of this test, over those of all tests. */
  readonly values?: { readonly operator?: object; readonly agent?: object } | undefined;
  /** Takes back what somebody changed by hand. */
  readonly force?: boolean;
}

/** Values by which agents can be made to die at one of their writes, and other settings of the controller. */
export function withMortalAgent(settings: Readonly<Record<string, string>> = {}) {
  return { agent: { controller: { settings: { agentImage: mortalAgentImage, ...settings } } } };
}

type Place = Pick<World, 'management' | 'business' | 'directory' | 'endpoints'>;

/** Installs both charts, or changes what is installed, as docs/guides/install.md says it. */
export async function installCharts(place: Place, installed: Installed): Promise<void> {
  const { management, business, directory } = place;
  const { type, charts = ours, values = {}, force } = installed;
  await helmInstall(directory, {
    cluster: business,
    chart: 'multinic-agent',
    charts,
    force,
    namespace: namespaces.business,
    files: [join(charts, `multinic-agent/values-${type}.yaml`)],
    values: [agentValues, values.agent ?? {}],
  });
  await helmInstall(directory, {
    cluster: management,
    chart: 'multinic-operator',
    charts,
    force,
    namespace: namespaces.management,
    files: [join(charts, `multinic-operator/values-${type}.yaml`)],
    values: [operatorValues(place.endpoints), values.operator ?? {}],
  });
}

const often = { pollFastInterval: '2s', pollSlowInterval: '2s', pollErrorInterval: '2s' };
const everywhere = { logLevel: 'debug', leaseDuration: '5s' };

const agentValues = {
  controller: { replicas: 1, settings: { ...everywhere, agentImagePullPolicy: 'Never' } },
};

function operatorValues(endpoints: World['endpoints']) {
  return {
    operator: {
      replicas: 1,
      settings: { ...everywhere, ...often, ...endpoints },
      secretSettings: { contrabassEncryptKey: { name: 'contrabass', key: 'key' } },
      persistence: { enabled: false },
    },
    viola: { replicas: 1, settings: { logLevel: 'debug' } },
  };
}

/** The key that Contrabass encrypts passwords under, where the operator's Pod gets it from. */
async function giveKey({ management, contrabass }: Ground): Promise<void> {
  await management.kubectl(['create', 'namespace', namespaces.management]);
  const metadata = { name: 'contrabass', namespace: namespaces.management };
  const secret = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata,
    stringData: { key: contrabass.encryptKey },
  };
  await management.kubectl(['create', '-f', '-'], JSON.stringify(secret));
}

/** Where the operator's Pod reaches the cloud. */
export async function relayedEndpoints(
  { management, contrabass, tenant }: Ground,
  stack: AsyncDisposableStack,
) {
  const relayed = async (url: string) => stack.use(await reachable(management, url)).url;
  return {
    contrabassEndpoint: await relayed(contrabass.contrabassUrl),
    openstackNeutronEndpoint: await relayed(tenant.user.url('network')),
    openstackNovaEndpoint: await relayed(tenant.user.url('compute')),
  };
}

/** People's own grants stand beside the operator's. */
async function grant(
  { management }: Ground,
  { foreign, readOnly }: World['tokens'],
): Promise<void> {
  const grants = [
    grantOf('foreign', foreign, 'business-2', 'read', 'write'),
    grantOf('viewer', readOnly, provider, 'read'),
  ];
  const patch = { stringData: { 'people.yaml': JSON.stringify(grants) } };
  const into = ['-n', namespaces.management, 'patch', 'secret', 'viola-api-tokens'];
  await management.kubectl([...into, '--type=merge', '-p', JSON.stringify(patch)]);
}

function grantOf(name: string, token: string, granted: string, ...verbs: string[]) {
  const sha256 = createHash('sha256').update(token).digest('hex');
  return { name, sha256, providers: [granted], verbs };
}

function newToken(): string {
  return randomBytes(24).toString('hex');
}
