import { plainForm } from '../api/address.ts';
import type { PortView } from '../api/read-http.ts';
import { ownPortTexts } from '../api/texts/own-port.ts';
import { filled } from '../api/texts/text.ts';
import type { Fact } from './fact.ts';
import type { KubernetesNode } from './facts.ts';
import type { NextStep } from './step.ts';
import { providerOfPort, type Subject, valueOf } from './subject.ts';

type Addresses = Pick<PortView, 'addresses'>;

/** Returns the address shared by a port and the Node's InternalIPs; undefined: none, or unread. */
export function nodeAddressOn(
  { addresses }: Addresses,
  node: Fact<KubernetesNode | undefined>,
): string | undefined {
  const own = new Set((valueOf(node)?.internalIps ?? []).map(plainForm));
  return addresses.map(({ ip }) => ip).find((ip) => own.has(plainForm(ip)));
}

/** Returns the subnets with the Node's InternalIPs; undefined: not all facts were read. */
function ownSubnetsOf({ facts, port }: Subject): ReadonlySet<string> | undefined {
  const { kubernetesNode, serverPorts } = facts;
  const isRead = valueOf(kubernetesNode) !== undefined && serverPorts?.state !== 'unread';
  if (!isRead) return undefined;
  const known: readonly Addresses[] = (serverPorts && valueOf(serverPorts)) ?? [];
  const own = [...known, ...(port ? [port] : [])].flatMap(({ addresses }) =>
    addresses.filter((address) => nodeAddressOn({ addresses: [address] }, kubernetesNode)),
  );
  return new Set(own.map(({ subnetId }) => subnetId));
}

/** Gate for next steps: no command selects the network of the node's own port. */
export function withoutOwnNetwork(
  next: NextStep | undefined,
  subject: Subject,
): NextStep | undefined {
  const { port } = subject;
  if (!next || !port) return next;
  const own = ownSubnetsOf(subject);
  const isNamed = (id: string) =>
    [...next.commands, ...next.preview].some((each) => each.includes(id));
  if (own && [...own].some(isNamed)) return withoutCommands(ownPortTexts.ownNetwork);
  const isOpen = !own && port.addresses.some(({ subnetId }) => isNamed(subnetId));
  if (!isOpen) return next;
  const configs = subject.facts.configs && valueOf(subject.facts.configs);
  const provider = providerOfPort(port, configs ?? []) ?? 'PROVIDER';
  return withoutCommands(filled(ownPortTexts.checkOwnNetwork, { provider }));
}

function withoutCommands(text: NextStep['text']): NextStep {
  return { text, commands: [], preview: [] };
}
