import { type JobRequest, protocolOf, type RequestInterface } from '../../api/job.ts';
import { guessFamily } from '../../controller/jobs/family.ts';
import { machineOf } from '../../controller/objects/machine.ts';
import type { Node } from '../../kube/core-resources.ts';
import type { Cloud } from '../../openstack/cloud.ts';
import type { Port } from '../../openstack/resources.ts';
import { Refusal } from '../refusal.ts';
import { uuidOf } from './machines.ts';

/** Most NICs in a request. */
const mostNics = 10;

/** Returns the request for an agent's dry run: every port of the server except the node's own NIC. */
export async function agentRequestFor(
  node: Node,
  cloud: Cloud,
  signal: AbortSignal,
): Promise<JobRequest> {
  const { nodeName, machineId, osImage } = machineOf(node);
  const own = (node.status?.addresses ?? [])
    .filter(({ type }) => type === 'InternalIP' || type === 'ExternalIP')
    .map(({ address }) => address);
  const ports = (await cloud.portsOf([uuidOf(node)], signal)).filter(
    ({ flaw, fixedIps }) =>
      flaw === undefined && !fixedIps.some(({ ipAddress }) => own.includes(ipAddress)),
  );
  if (ports.length === 0) {
    throw new Refusal(
      `server ${uuidOf(node)} of node ${nodeName} has no port beside the node's own NIC`,
      'attach a port to the server: openstack server add port SERVER PORT',
    );
  }
  const interfaces = await Promise.all(
    ports.slice(0, mostNics).map((port, index) => interfaceOf(port, index, cloud, signal)),
  );
  return {
    protocol: interfaces.some((each) => protocolOf(each) > 1) ? 3 : 2,
    uid: 'check',
    generation: 1,
    ...(machineId === undefined ? {} : { machineId }),
    attempt: 1,
    action: 'apply',
    nodeName,
    protectedAddresses: own,
    family: guessFamily({ osImage }),
    interfaces,
  };
}

async function interfaceOf(
  { id, macAddress, networkId, fixedIps }: Port,
  index: number,
  cloud: Cloud,
  signal: AbortSignal,
): Promise<RequestInterface> {
  const [network, ...addresses] = await Promise.all([
    cloud.network(networkId, signal),
    ...fixedIps.map((fixedIp) => addressOf(fixedIp, cloud, signal)),
  ]);
  const mtu = network.kind === 'found' ? network.value.mtu : undefined;
  return {
    index,
    portId: id,
    mac: macAddress,
    ...(mtu === undefined ? {} : { mtu }),
    addresses,
    routes: [],
    routing: 'pbr',
  };
}

async function addressOf(
  { subnetId, ipAddress }: Port['fixedIps'][number],
  cloud: Cloud,
  signal: AbortSignal,
): Promise<string> {
  const subnet = await cloud.subnet(subnetId, signal);
  if (subnet.kind === 'found') return `${ipAddress}/${subnet.value.cidr.split('/')[1] ?? ''}`;
  throw new Refusal(
    `the account may not read subnet ${subnetId} of address ${ipAddress}`,
    'use an account that may read the subnet',
  );
}
