import { shortMessage } from '../../../api/condition.ts';
import { counted } from '../../../api/counted.ts';
import { namedSome } from '../../../api/named-some.ts';
import type { OpenstackConfigStatus } from '../../../api/openstackconfig.ts';
import type { EventRecorder } from '../../../kube/events.ts';
import { unusedPorts } from '../../../plan/calculate.ts';
import type { PortVerdict } from '../../../plan/plan.ts';
import { compareText } from '../../../plan/view.ts';
import type { ConfigObject } from '../../model/openstack-config.ts';

export type UnusedPort = NonNullable<OpenstackConfigStatus['unusedPorts']>[number];

/** CRD limit. */
const maxShown = 20;
/** Most port ids in one message, because Events are limited in size. */
const shownIds = 10;

/**
 * Returns ports that a user may expect among the NICs, each with its reason. Reasons alternate: every reason
 * is shown even if a single reason has many ports.
 */
export function unusedPortsShown(ports: readonly PortVerdict[]): UnusedPort[] | undefined {
  const byReason = Map.groupBy(unusedPorts(ports), ({ reason }) => reason);
  const ranked = [...byReason.values()].flatMap((all) => all.map((port, rank) => ({ port, rank })));
  const shown = ranked
    .toSorted((a, b) => a.rank - b.rank)
    .slice(0, maxShown)
    .map(({ port: { portId, serverId, address = '', reason = '', message = '' } }) => ({
      portId,
      serverId,
      address,
      reason,
      message: shortMessage(message),
    }));
  return shown.length > 0 ? shown : undefined;
}

/**
 * Returns the number of unused ports and the reasons, for Ready; undefined: all ports in the selected subnets
 * are NICs.
 */
export function unusedNote(ports: readonly PortVerdict[]): string | undefined {
  const unused = unusedPorts(ports);
  if (unused.length === 0) return undefined;
  const selected = ports.filter(({ address }) => address !== undefined).length;
  const reasons = [...Map.groupBy(unused, ({ reason = '' }) => reason)].map(
    ([reason, all]) => `${all.length} ${reason}`,
  );
  const nics = ports.filter(({ nic }) => nic !== undefined).length;
  const are = nics === 1 ? 'is a NIC' : 'are NICs';
  return `${nics} of ${counted(selected, 'port')} in the selected subnets ${are} (${reasons.toSorted(compareText).join(', ')}; see status.unusedPorts)`;
}

/** Records one Event per reason whose port set differs from the previous status. */
export function recordUnusedPorts(
  recorder: Pick<EventRecorder, 'record'>,
  object: ConfigObject,
  before: OpenstackConfigStatus,
  now: OpenstackConfigStatus,
): void {
  const former = byReasonIn(before);
  for (const [reason, ports] of byReasonIn(now)) {
    if (idsOf(ports) === idsOf(former.get(reason) ?? [])) continue;
    recorder.record(object, { type: 'Normal', reason, message: messageOf(ports) });
  }
}

function byReasonIn({ unusedPorts: ports = [] }: OpenstackConfigStatus) {
  return Map.groupBy(ports, ({ reason = '' }) => reason);
}

function idsOf(ports: readonly UnusedPort[]): string {
  return ports
    .map(({ portId = '' }) => portId)
    .toSorted(compareText)
    .join(' ');
}

function messageOf(ports: readonly UnusedPort[]): string {
  const ids = ports.map(({ portId }) => `port ${portId}`);
  return shortMessage(`${namedSome(ids, shownIds, { before: ', ' })}: ${ports[0]?.message}`);
}
