import * as z from 'zod';
import { identities } from '../../../rig/chain/identities.ts';
import type { ControlPlane } from '../../../rig/control-plane/control-plane.ts';
import { inventoryRecords } from '../../../src/api/inventory-http.ts';
import { type MultiNicNodeConfig, nodeConfigStatus } from '../../../src/api/multinicnodeconfig.ts';
import { businessGroup, managementGroup } from '../../../src/api/names.ts';
import { openstackConfigStatus } from '../../../src/api/openstackconfig.ts';
import { type EndState, endState, type Places } from '../../fixtures/end-state.ts';
import { type Ground, namespace, provider } from './ground.ts';
import { foreignState, ourState } from './kernel-state.ts';

const metadata = z.object({ uid: z.string(), generation: z.int() });
const nodeConfig = z.object({ metadata, status: nodeConfigStatus.optional() });
const openstackConfig = z.object({ metadata, status: openstackConfigStatus.optional() });

/** A ground with an inventory that can be asked. */
export interface ObservedGround extends Ground {
  readonly inventory: { fetch(path: string): Promise<{ json(): Promise<unknown> }> };
}

/** The node's MultiNicNodeConfig as the business cluster holds it now, if it does. */
export async function nodeConfigOf({ business, node }: Ground) {
  return nodeConfig.optional().parse(await objectOf(business, 'mnnc', node.name));
}

/** State by NIC name, such as `{multinic0: 'Configured'}`. */
export async function nicStates(world: Ground): Promise<Record<string, string>> {
  const entries = (await nodeConfigOf(world))?.status?.interfaceStatuses ?? [];
  return Object.fromEntries(entries.map(({ name, status }) => [name ?? '', status ?? '']));
}

/** The reasons of all NICs. A NIC that was rolled back is listed under the name that the kernel gave it. */
export async function nicReasons(world: Ground): Promise<(string | undefined)[]> {
  const entries = (await nodeConfigOf(world))?.status?.interfaceStatuses ?? [];
  return entries.map(({ reason }) => reason);
}

/** Reason of a condition of the OpenstackConfig. */
export async function configCondition({ management }: Ground, type: string) {
  const { status } = openstackConfig.parse(await objectOf(management, 'osc', 'e2e'));
  return status?.conditions?.find((condition) => condition.type === type);
}

/** What the inventory says of the node. */
export async function inventoryOf({ inventory, node }: ObservedGround) {
  const query = `providerId=${provider}&nodeName=${node.name}`;
  const answer = await inventory.fetch(`/v1/inventory/node-configs?${query}`);
  return inventoryRecords.parse(await answer.json());
}

/** An object of our namespace as the cluster holds it now, if it does. */
async function objectOf(cluster: ControlPlane, kind: Kind, name: string): Promise<unknown> {
  const [version, plural] = kinds[kind];
  return cluster.read(`/apis/${version}/namespaces/${namespace}/${plural}/${name}`);
}

const kinds = {
  osc: [`${managementGroup}/v1alpha1`, 'openstackconfigs'],
  mnnc: [`${businessGroup}/v1`, 'multinicnodeconfigs'],
} as const;
type Kind = keyof typeof kinds;

/** Where what there is to know of the node and its NICs is. */
export function placesOf(world: ObservedGround): Places {
  const { management, business, node } = world;
  return {
    openstackConfig: async () =>
      openstackConfig.optional().parse(await objectOf(management, 'osc', 'e2e'))?.status,
    nodeConfig: async () =>
      (await objectOf(business, 'mnnc', node.name)) as MultiNicNodeConfig | undefined,
    inventory: async () => inventoryOf(world),
    host: async () => ({ ours: await ourState(node), foreign: await foreignState(node) }),
  };
}

export function endOf(world: ObservedGround): Promise<EndState> {
  return endState(placesOf(world));
}

/** What our parts asked of the business cluster, from its audit log. */
export async function requestsOf({ business }: Ground) {
  const parts = new Set<string>([identities.writer, identities.controller]);
  const entries = (await business.auditLog()).filter(({ user }) => parts.has(user));
  return entries.map(({ code: status, ...entry }) => ({ ...entry, status }));
}

const pods = z.object({
  items: z.array(
    z.object({
      metadata: z.object({ name: z.string() }),
      spec: z.object({
        nodeName: z.string(),
        volumes: z.array(z.record(z.string(), z.unknown())),
        containers: z.array(z.object({ securityContext: z.object({ capabilities: z.unknown() }) })),
      }),
      status: z.object({ containerStatuses: z.array(z.object({ imageID: z.string() })) }),
    }),
  ),
});

/** The agent's Pods that ran on the node: image, rights, volumes and log. */
export async function agentPods({ business, node }: Ground) {
  const inAgents = ['-n', 'multinic-agents'];
  const list = await business.kubectl(['get', 'pods', ...inAgents, '-o', 'json']);
  const ofNode = pods
    .parse(JSON.parse(list))
    .items.filter(({ spec }) => spec.nodeName === node.name);
  return Promise.all(
    ofNode.map(async ({ metadata: { name }, spec, status }) => ({
      imageId: status.containerStatuses[0]?.imageID ?? '',
      capabilities: spec.containers[0]?.securityContext.capabilities,
      volumes: spec.volumes,
      log: await business.kubectl(['logs', name, ...inAgents]),
    })),
  );
}
