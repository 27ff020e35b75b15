import { openstackConfigs } from '../../rig/chain/kinds.ts';
import { namespaces } from '../../src/api/names.ts';
import type { OpenstackConfigSpec } from '../../src/api/openstackconfig.ts';
import { provider, type World } from '../fixtures/chain/world.ts';

export interface Tenant {
  readonly projectId: string;
  readonly subnetId: string;
  readonly servers: readonly string[];
}

/** Makes a project of its own with servers that have so many ports each. */
export function makeTenant({ cloud }: World, name: string, servers: number, ports: number): Tenant {
  const { controls } = cloud;
  const { projectId } = controls.createProject({ name });
  const { networkId } = controls.createNetwork({ projectId, mtu: 1450 });
  const subnet = { projectId, networkId, cidr: '10.0.0.0/16' };
  const { subnetId } = controls.createSubnet(subnet);
  const made = Array.from({ length: servers }, (_, n) => {
    const { serverId } = controls.createServer({ projectId, name: `${name}-${n}` });
    for (let port = 0; port < ports; port++) controls.attach({ serverId, networkId });
    return serverId;
  });
  return { projectId, subnetId, servers: made };
}

/** Writes an OpenstackConfig for all servers of the tenant. */
export async function applyFor(
  { cloud, management }: World,
  name: string,
  { projectId, subnetId, servers }: Tenant,
  edit: Partial<OpenstackConfigSpec> = {},
): Promise<void> {
  const spec: OpenstackConfigSpec = {
    subnetIDs: [subnetId],
    vmNames: [...servers],
    credentials: {
      openstackProviderID: cloud.providerId,
      k8sProviderID: provider,
      projectID: projectId,
    },
    // Its ports are older than the object.
    settings: { portBaseline: 'All' },
    ...edit,
  };
  const metadata = { name, namespace: namespaces.system };
  const author = { fieldManager: 'people', force: true };
  await management.client.apply(openstackConfigs, { metadata, spec }, author);
}

/** The `reason` of the Ready condition of each OpenstackConfig, by name. */
export function readiness({ management }: World): ReadonlyMap<string, string> {
  const objects = management.server.objects(
    'openstackconfigs.multinic.example.com',
    namespaces.system,
  );
  return new Map(
    objects.map((object) => {
      const { metadata, status } = object as { metadata: { name: string }; status?: Status };
      const ready = status?.conditions?.find(({ type }) => type === 'Ready');
      return [metadata.name, ready?.reason ?? ''];
    }),
  );
}

interface Status {
  readonly conditions?: readonly { readonly type: string; readonly reason: string }[];
}
