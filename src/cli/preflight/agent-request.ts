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

/** A port that the request lacks. */
interface LeftPort {
  readonly id: string;
  readonly why: string;
}

/** A request, and the ports that it lacks. */
export interface PrintedRequest {
  readonly request: JobRequest;
  readonly left: readonly LeftPort[];
}

/** Returns the request for an agent's dry run: every port of the server except the node's own NIC. */
export async function agentRequestFor(
  node: Node,
  cloud: Cloud,
  signal: AbortSignal,
): Promise<PrintedRequest> {
  const { nodeName, machineId, osImage } = machineOf(node);
  const own = ownAddresses(node);
  const ports = (await cloud.portsOf([serverOf(node)], signal)).filter(
    ({ fixedIps }) => !fixedIps.some(({ ipAddress }) => own.includes(ipAddress)),
  );
  const usable = ports.filter((port) => flawOf(port) === undefined);
  if (usable.length === 0) {
    throw new Refusal(
      `server ${uuidOf(node)} of node ${nodeName} has no port with an address beside the node's own NIC`,
      'attach a port to the server: openstack server add port SERVER PORT',
    );
  }
  const interfaces = await Promise.all(
    usable.slice(0, mostNics).map((port, index) => interfaceOf(port, index, cloud, signal)),
  );
  const request: JobRequest = {
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
  return { request, left: leftOf(ports, usable) };
}

/** Refuses a Node without systemUUID: no server matches. */
function serverOf(node: Node): string {
  const uuid = uuidOf(node);
  if (uuid !== '') return uuid;
  throw new Refusal(
    `Node ${node.metadata.name} has no systemUUID: its server is unknown`,
    `check the kubelet: kubectl get node ${node.metadata.name} -o jsonpath={.status.nodeInfo}`,
  );
}

/** Refuses a Node without InternalIP: the request could change the node's own NIC. */
function ownAddresses({ metadata, status }: Node): string[] {
  const addresses = status?.addresses ?? [];
  if (!addresses.some(({ type }) => type === 'InternalIP')) {
    throw new Refusal(
      `Node ${metadata.name} has no InternalIP: its own NIC is unknown`,
      `check the kubelet: kubectl get node ${metadata.name} -o jsonpath={.status.addresses}`,
    );
  }
  return addresses
    .filter(({ type }) => type === 'InternalIP' || type === 'ExternalIP')
    .map(({ address }) => address);
}

function flawOf({ flaw, fixedIps }: Port): string | undefined {
  if (flaw !== undefined) return flaw;
  return fixedIps.length === 0 ? 'the port has no address' : undefined;
}

function leftOf(ports: readonly Port[], usable: readonly Port[]): LeftPort[] {
  const flawed = ports.flatMap((port) => {
    const why = flawOf(port);
    return why === undefined ? [] : [{ id: port.id, why }];
  });
  const why = `a request has at most ${mostNics} NICs`;
  return [...flawed, ...usable.slice(mostNics).map(({ id }) => ({ id, why }))];
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
