import type { PortView } from '../../api/read-http.ts';
import { ownPortTexts } from '../../api/texts/own-port.ts';
import { filled, type Wording } from '../../api/texts/text.ts';
import { whyTexts } from '../../api/texts/why.ts';
import { nextFor } from '../next-steps.ts';
import { nodeAddressOn } from '../own-network.ts';
import { type PortConfigView, type Subject, serverName, subnetName, valueOf } from '../subject.ts';
import { same } from '../wording.ts';
import { fail, info, type Outcome, ok, skipped, unknown } from './outcome.ts';
import { awaitsSync, failingSync, notSynced } from './sync-state.ts';

/** Explains whether an OpenstackConfig selects server and subnet, and whether a sync has decided about the port. */
export function selection(subject: Subject): Outcome {
  const { facts, port, config } = subject;
  if (facts.port.state === 'unread') return skipped(facts.port);
  if (!port) return unknown(whyTexts.unknownPort);
  const open = config && awaitsSync(config, subject, port);
  return (
    open ??
    notSelected(subject, port) ??
    notSynced(subject, port) ??
    ok(selectedBy(subject, port, config))
  );
}

function notSelected(subject: Subject, port: PortView): Outcome | undefined {
  const { config, object } = subject;
  const spec = object?.spec;
  if (!config) {
    const evidence = filled(whyTexts.serverNotSelected, { serverName: serverName(port) });
    return fail('ServerNotSelected', evidence, nextFor('ServerNotSelected', { port }));
  }
  const { selectsServer, selectsSubnet } = config;
  // A port without an address is in no subnet; the filter reports PortWithoutAddress.
  const lacksSubnet = selectsSubnet === false && port.addresses.length > 0;
  if (selectsServer !== false && !lacksSubnet) return unreadSelection(config, subject, port);
  const reason = selectsServer === false ? 'ServerNotSelected' : 'SubnetNotSelected';
  const evidence =
    reason === 'ServerNotSelected' ? lacksServer(subject, port) : lacks(subject, port);
  const intended = reason === 'SubnetNotSelected' ? outside(subject, port, evidence) : undefined;
  if (intended) return intended;
  return fail(reason, evidence, nextFor(reason, { config: config.config, spec, port }));
}

/** Returns information for the node's own port, and for an answer about a server; undefined: the user wants a NIC. */
function outside({ facts, nic }: Subject, port: PortView, evidence: Wording): Outcome | undefined {
  if (nic) return undefined;
  const { kubernetesNode, isOfServer = false } = facts;
  const address = nodeAddressOn(port, kubernetesNode);
  if (address !== undefined) {
    const node = valueOf(kubernetesNode)?.name ?? '';
    return info('SubnetNotSelected', filled(ownPortTexts.ownPort, { address, node }));
  }
  if (!isOfServer) return undefined;
  return info('SubnetNotSelected', filled(ownPortTexts.outside, { evidence }));
}

/** Without a plan the operator knows no selection: a failing sync is then the cause. */
function unreadSelection(
  config: PortConfigView,
  subject: Subject,
  port: PortView,
): Outcome | undefined {
  const hasSubnet = config.selectsSubnet !== undefined || port.addresses.length === 0;
  if (config.selectsServer !== undefined && hasSubnet) return undefined;
  const key = config.config;
  return failingSync(config, subject, port) ?? unknown(filled(whyTexts.selectionUnread, { key }));
}

function lacksServer(subject: Subject, port: PortView): Wording {
  const { config } = subject;
  const key = config?.config ?? '';
  const server = serverName(port);
  const subnets = subnetsOf(subject, port);
  return config?.selectsSubnet
    ? filled(whyTexts.subnetOnly, { key, subnets, server, deviceId: port.deviceId })
    : filled(whyTexts.serverNotChosen, { key, server, deviceId: port.deviceId });
}

function lacks(subject: Subject, port: PortView): Wording {
  const { config, object } = subject;
  const { subnetIDs, subnetID, subnetName: byName } = object?.spec ?? {};
  const key = config?.config ?? '';
  const selected = subnetIDs ?? [subnetID ?? byName].filter(Boolean);
  const list = selected.join(', ');
  const others = list ? filled(whyTexts.selectedSubnets, { list }) : same('');
  const subnets = subnetsOf(subject, port);
  return filled(whyTexts.subnetNotSelected, { key, serverName: serverName(port), subnets, others });
}

function subnetsOf(subject: Subject, { addresses }: PortView): string {
  const ids = [...new Set(addresses.map(({ subnetId }) => subnetId))];
  return ids.map((id) => subnetName(id, subject)).join(', ');
}

function selectedBy(subject: Subject, port: PortView, config: PortConfigView | undefined): Wording {
  const key = config?.config ?? '';
  const server = serverName(port);
  if (port.addresses.length === 0) {
    return filled(whyTexts.selectsServer, { key, server });
  }
  const subnets = subnetsOf(subject, port);
  return filled(whyTexts.selectsBoth, { key, subnets, server });
}
