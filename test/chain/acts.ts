import { openstackConfigs } from '../../rig/chain/kinds.ts';
import type { Attachment } from '../../rig/openstack/tenant.ts';
import { annotations, namespaces } from '../../src/api/names.ts';
import type { OpenstackConfigSpec } from '../../src/api/openstackconfig.ts';
import { untilPaused } from './waits.ts';
import { provider, type Worker, type World } from './world.ts';

/** What a test wants otherwise in the OpenstackConfig of a worker. */
export interface Edit extends Omit<Partial<OpenstackConfigSpec>, 'credentials'> {
  readonly credentials?: Partial<OpenstackConfigSpec['credentials']>;
}

/** Writes the worker's OpenstackConfig, which has the worker's name and selects nobody else: as it is, or edited. */
export async function applyConfig(
  world: World,
  { name, serverId }: Worker,
  { credentials, ...edit }: Edit = {},
  marks: Readonly<Record<string, string>> = {},
): Promise<void> {
  const { cloud, data, tenant, management } = world;
  const spec: OpenstackConfigSpec = {
    subnetIDs: [data.subnetId],
    vmNames: [serverId],
    ...edit,
    credentials: {
      openstackProviderID: cloud.providerId,
      k8sProviderID: provider,
      projectID: tenant.projectId,
      ...credentials,
    },
  };
  const metadata = { name, namespace: namespaces.system, annotations: marks };
  const author = { fieldManager: 'people', force: true };
  await management.client.apply(openstackConfigs, { metadata, spec }, author);
}

/** Keeps the operator from doing anything about the worker until its OpenstackConfig is applied again. */
export async function pause(world: World, worker: Worker): Promise<void> {
  await applyConfig(world, worker, {}, { [annotations.paused]: 'true' });
  await untilPaused(world, worker);
}

/** What the tenant does: a port of the data network becomes a NIC of the server. */
export function attach({ tenant, data }: World, { serverId }: Worker): Promise<Attachment> {
  return tenant.attach(serverId, { networkId: data.networkId });
}

/** Takes the port off the server, if it is on it. */
export async function detach({ tenant }: World, worker: Worker, portId: string): Promise<void> {
  const port = await tenant.port(portId);
  if (port?.device_id === worker.serverId) await tenant.detach(worker.serverId, portId);
}
