import * as z from 'zod';
import { identities } from '../../rig/chain/identities.ts';
import { inventoryRecords } from '../../src/api/inventory-http.ts';
import type { MultiNicNodeConfig } from '../../src/api/multinicnodeconfig.ts';
import { nodeConfigStatus } from '../../src/api/multinicnodeconfig.ts';
import { openstackConfigStatus } from '../../src/api/openstackconfig.ts';
import { endState } from '../beds/end-state.ts';
import { foreignState, ourState } from './kernel-state.ts';
import { namespace, provider, type World } from './world.ts';

const metadata = z.object({ uid: z.string(), generation: z.int() });
const nodeConfig = z.object({ metadata, status: nodeConfigStatus.optional() });
const openstackConfig = z.object({ metadata, status: openstackConfigStatus.optional() });

/** The node's MultiNicNodeConfig as the business cluster holds it now, if it does. */
export async function nodeConfigOf({ business, node }: World) {
  const get = ['get', 'mnnc', node.name, '-n', namespace, '-o', 'json', '--ignore-not-found'];
  const text = await business.kubectl(get);
  return text.trim() === '' ? undefined : nodeConfig.parse(JSON.parse(text));
}

/** State by NIC name, such as `{multinic0: 'Configured'}`. */
export async function nicStates(world: World): Promise<Record<string, string>> {
  const entries = (await nodeConfigOf(world))?.status?.interfaceStatuses ?? [];
  return Object.fromEntries(entries.map(({ name, status }) => [name ?? '', status ?? '']));
}

/** The reasons of all NICs. A NIC that was rolled back is listed under the name that the kernel gave it. */
export async function nicReasons(world: World): Promise<(string | undefined)[]> {
  const entries = (await nodeConfigOf(world))?.status?.interfaceStatuses ?? [];
  return entries.map(({ reason }) => reason);
}

/** Reason of a condition of the OpenstackConfig. */
export async function configCondition({ management }: World, type: string) {
  const text = await management.kubectl(['get', 'osc', 'e2e', '-n', namespace, '-o', 'json']);
  const { status } = openstackConfig.parse(JSON.parse(text));
  return status?.conditions?.find((condition) => condition.type === type);
}

/** What the inventory says of the node. */
export async function inventoryOf({ inventoryUrl, node }: World) {
  const query = `providerId=${provider}&nodeName=${node.name}`;
  const answer = await fetch(`${inventoryUrl}/v1/inventory/node-configs?${query}`);
  return inventoryRecords.parse(await answer.json());
}

/** What everybody knows of the node and its NICs. */
export async function endOf(world: World) {
  const { management, business, node } = world;
  const inNamespace = ['-n', namespace, '-o', 'json'];
  return endState({
    openstackConfig: async () =>
      openstackConfig.parse(
        JSON.parse(await management.kubectl(['get', 'osc', 'e2e', ...inNamespace])),
      ).status,
    nodeConfig: async () =>
      JSON.parse(
        await business.kubectl(['get', 'mnnc', node.name, ...inNamespace]),
      ) as MultiNicNodeConfig,
    inventory: async () => inventoryOf(world),
    host: async () => ({ ours: await ourState(node), foreign: await foreignState(node) }),
  });
}

const counted = new Set(['multinicnodeconfigs', 'jobs', 'configmaps']);

/** Objects that our parts created in the business cluster, from its audit log: 201 is a creation, also of an apply. */
export async function created({ business }: World): Promise<string[]> {
  const parts = new Set<string>([identities.writer, identities.controller]);
  return (await business.auditLog())
    .filter(({ code, user, resource }) => code === 201 && parts.has(user) && counted.has(resource))
    .map(({ resource, name }) => `${resource}/${name}`);
}

const pods = z.object({
  items: z.array(
    z.object({
      metadata: z.object({ name: z.string() }),
      spec: z.object({
        volumes: z.array(z.record(z.string(), z.unknown())),
        containers: z.array(z.object({ securityContext: z.object({ capabilities: z.unknown() }) })),
      }),
      status: z.object({ containerStatuses: z.array(z.object({ imageID: z.string() })) }),
    }),
  ),
});

/** The agent's Pods that ran: image, rights, volumes and log. */
export async function agentPods({ business }: World) {
  const inAgents = ['-n', 'multinic-agents'];
  const list = await business.kubectl(['get', 'pods', ...inAgents, '-o', 'json']);
  return Promise.all(
    pods.parse(JSON.parse(list)).items.map(async ({ metadata: { name }, spec, status }) => ({
      imageId: status.containerStatuses[0]?.imageID ?? '',
      capabilities: spec.containers[0]?.securityContext.capabilities,
      volumes: spec.volumes,
      log: await business.kubectl(['logs', name, ...inAgents]),
    })),
  );
}
