import type { InventoryChange } from '../../api/inventory-http.ts';
import { addressesIn, changedFields } from '../../session/facts/history-facts.ts';
import type { List } from '../output/list.ts';
import type { Column } from '../output/table.ts';

export function historyList(empty: string): List<InventoryChange> {
  return {
    kind: 'History',
    columns,
    name: ({ providerId, nodeName, name, portId }) => `${providerId}/${nodeName}/${name || portId}`,
    object: (change) => change,
    empty,
  };
}

const columns: readonly Column<InventoryChange>[] = [
  { title: 'AT', cell: ({ at }) => at },
  { title: 'CLUSTER', cell: ({ providerId }) => providerId },
  { title: 'NODE', cell: ({ nodeName }) => nodeName },
  { title: 'NIC', cell: ({ name }) => name || '-' },
  { title: 'CHANGE', cell: ({ change }) => change },
  { title: 'BASIS', cell: ({ basis }) => basis ?? '-' },
  { title: 'DETAILS', cell: (change) => detailsOf(change) },
  { title: 'PORT', cell: ({ portId }) => portId || '-', wide: true },
  { title: 'MAC', cell: ({ macAddress }) => macAddress, wide: true },
  { title: 'INSTANCE', cell: ({ instanceId }) => instanceId, wide: true },
  {
    title: 'OPENSTACKCONFIG',
    cell: ({ openstackConfig: { namespace, name, generation } }) =>
      `${namespace}/${name} (generation ${generation})`,
    wide: true,
  },
];

/** Returns the changed fields with both values; the addresses for an added or removed NIC. */
function detailsOf(change: InventoryChange): string {
  if (!change.before || !change.after) return addressesIn(change).join(',') || '-';
  const fields = changedFields(change).map(
    ({ name, before, after }) => `${name} ${before} → ${after}`,
  );
  return fields.join(', ') || '-';
}
