import { namespaces } from '../../src/api/names.ts';
import { nodeConfigs, openstackConfigs } from '../chain/kinds.ts';
import type { Machine } from '../chain/machines.ts';
import type { Attachment } from '../openstack/tenant.ts';
import { type WaitOptions, waitFor } from '../parts/waiting.ts';
import type { Screen } from './screen.ts';
import { startTraffic } from './traffic.ts';
import { type DemoWorld, provider } from './world.ts';

/** Gateway of the subnet; the network behind the hosts has this address. */
const gateway = '10.0.0.254';

interface Story {
  readonly world: DemoWorld;
  readonly screen: Screen;
  readonly wait: WaitOptions;
}

/** Ports come and go; throws when a NIC is not on its host, or not gone from it, as it should be. */
export async function runStory(story: Story): Promise<void> {
  const { world, screen } = story;
  const [one, two] = world.machines;
  if (!one || !two) throw new Error('the demo needs two hosts');
  screen.title('An OpenstackConfig selects the subnet "data" of both servers');
  await createConfig(world);
  const first = await attach(story, one, 'multinic0');
  const address = first.fixed_ips[0]?.ip_address ?? '';
  await using traffic = await startTraffic(one.host, address, gateway);
  screen.step('traffic', `${address} sends a packet to ${gateway} every 50 ms`);
  const second = await attach(story, one, 'multinic1');
  await attach(story, two, 'multinic0');
  await detach(story, one, second, 'multinic1');
  const packets = await traffic.stop();
  screen.title('The second NIC came and went; the first one kept its name and its traffic');
  screen.step('traffic', `${packets.answered} of ${packets.sent} packets were answered`);
  await show(story, one, 'multinic0');
  if (packets.sent === 0 || packets.answered < packets.sent) {
    throw new Error(`multinic0 lost packets: ${packets.answered} of ${packets.sent} were answered`);
  }
}

async function createConfig({ management, data, machines, tenant }: DemoWorld): Promise<void> {
  await management.create(openstackConfigs, {
    metadata: { name: 'demo', namespace: namespaces.system },
    spec: {
      subnetIDs: [data.subnetId],
      vmNames: machines.map(({ serverId }) => serverId),
      credentials: {
        openstackProviderID: 'rig-openstack',
        k8sProviderID: provider,
        projectID: tenant.projectId,
      },
    },
  });
}

async function attach(story: Story, machine: Machine, name: string): Promise<Attachment> {
  const { world, screen } = story;
  screen.title(`Attach a port to ${machine.name}`);
  const attachment = await world.tenant.attach(machine.serverId, {
    networkId: world.data.networkId,
  });
  const address = attachment.fixed_ips[0]?.ip_address ?? '';
  screen.step(
    'tenant',
    `POST /servers/${machine.name}/os-interface: ${address} ${attachment.mac_addr}`,
  );
  await untilState(story, machine, name, 'Configured');
  await show(story, machine, name);
  await machine.host.ip('link', 'show', 'dev', name);
  return attachment;
}

async function detach(
  story: Story,
  machine: Machine,
  attachment: Attachment,
  name: string,
): Promise<void> {
  const { world, screen } = story;
  screen.title(`Detach ${name} from ${machine.name}`);
  await world.tenant.detach(machine.serverId, attachment.port_id);
  screen.step('tenant', `DELETE /servers/${machine.name}/os-interface/${attachment.port_id}`);
  await untilState(story, machine, name, undefined);
  const { stdout } = await machine.host.exec('ip', '-br', 'link');
  if (stdout.includes(name)) throw new Error(`${name} is still on ${machine.name}:\n${stdout}`);
  screen.quote(stdout);
}

/** Waits until the node config says so of the NIC; undefined: until it does not name it any more. */
async function untilState(
  { world, wait }: Story,
  { name: node }: Machine,
  name: string,
  state: string | undefined,
): Promise<void> {
  await waitFor(
    `${name} on ${node} to be ${state ?? 'gone'}`,
    async () => {
      const config = await world.business.find(nodeConfigs, {
        namespace: namespaces.system,
        name: node,
      });
      const status = config?.status?.interfaceStatuses?.find((nic) => nic.name === name);
      const wanted = config?.spec.interfaces?.some((nic) => nic.name === name) === true;
      return status?.status === state && wanted === (state !== undefined) ? true : undefined;
    },
    wait,
  );
}

/** Prints the NIC as `ip` shows it, with its table and rules. */
async function show({ screen }: Story, { host }: Machine, name: string): Promise<void> {
  const table = String(100 + Number(name.at(-1)));
  screen.quote(await host.ip('addr', 'show', 'dev', name));
  screen.quote(await host.ip('rule', 'show', 'table', table));
  screen.quote(await host.ip('route', 'show', 'table', table));
}
