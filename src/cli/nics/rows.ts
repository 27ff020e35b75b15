import { expectedPorts } from '../../api/node-summary.ts';
import type { NicView, NodeView } from '../../api/read-http.ts';
import { ageOf } from '../../explain/wording.ts';
import type { List } from '../output/list.ts';
import type { Column } from '../output/table.ts';

/** A NIC, or a port without NIC. */
export interface NicRow extends Partial<Omit<NicView, 'state' | 'reason' | 'message'>> {
  readonly providerId: string;
  readonly nodeName: string;
  readonly state: string;
  readonly reason: string;
  readonly message: string;
}

/** Returns a row per NIC, then per port expected among the NICs. */
export function nicRows(node: NodeView): NicRow[] {
  const { providerId, nodeName, nics } = node;
  return [
    ...nics.map((nic) => ({ providerId, nodeName, ...nic })),
    ...expectedPorts(node).map(({ portId, macAddress, address, reason, message }) => ({
      providerId,
      nodeName,
      portId,
      ...(macAddress === undefined ? {} : { macAddress }),
      addresses: address === undefined ? [] : [address],
      state: 'Unused',
      reason,
      message,
    })),
  ];
}

export function nicList(now: () => Date): List<NicRow> {
  return {
    kind: 'NicList',
    columns: columns(now),
    name: ({ providerId, nodeName, name, portId = '' }) =>
      `${providerId}/${nodeName}/${name ?? portId}`,
    object: (row) => row,
    empty: 'No NICs. Next: kubectl multinic status',
  };
}

function columns(now: () => Date): Column<NicRow>[] {
  return [
    { title: 'NODE', cell: ({ nodeName }) => nodeName },
    { title: 'NIC', cell: ({ name }) => name ?? '-' },
    { title: 'STATE', cell: ({ state }) => state },
    // A reason that repeats the state is no information.
    { title: 'REASON', cell: ({ state, reason }) => (reason === state ? '' : reason) },
    { title: 'ADDRESSES', cell: ({ addresses = [] }) => addresses.join(',') || '-' },
    { title: 'MTU', cell: ({ mtu }) => (mtu === undefined ? '-' : String(mtu)) },
    { title: 'MAC', cell: ({ macAddress }) => macAddress ?? '-' },
    { title: 'LINK', cell: ({ carrier }) => linkText(carrier), wide: true },
    { title: 'NETWORK', cell: (row) => row.networkName ?? row.networkId ?? '-', wide: true },
    { title: 'SUBNET', cell: (row) => row.subnetName ?? row.subnetId ?? '-', wide: true },
    { title: 'PORT', cell: ({ portId }) => portId ?? '-', wide: true },
    { title: 'NEUTRON', cell: ({ portStatus }) => portStatus ?? '-', wide: true },
    { title: 'CHANGED', cell: ({ changedAt }) => ageOf(changedAt, now()).en || '-', wide: true },
  ];
}

function linkText(carrier: boolean | undefined): string {
  if (carrier === undefined) return '-';
  return carrier ? 'up' : 'down';
}
