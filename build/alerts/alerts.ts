import { ofAccess } from './access.ts';
import type { Alert, Chart } from './alert.ts';
import { ofBackups } from './backups.ts';
import { ofBizConfigs } from './biz-configs.ts';
import { inspections } from './inspections.ts';
import { ofInventory } from './inventory.ts';
import { ofLifecycle } from './lifecycle.ts';
import { ofNodesAndAgents } from './nodes.ts';
import { ofOpenstackConfigs } from './openstack-configs.ts';
import { partsDown } from './parts-down.ts';
import { ofProcesses } from './processes.ts';

const groups = {
  parts: partsDown,
  openstackconfigs: ofOpenstackConfigs,
  lifecycle: ofLifecycle,
  backups: ofBackups,
  looks: inspections,
  inventory: ofInventory,
  access: ofAccess,
  nodes: ofNodesAndAgents,
  bizconfigs: ofBizConfigs,
  processes: ofProcesses,
} as const;

type Groups = typeof groups;

export type AlertName = { [K in keyof Groups]: keyof Groups[K] }[keyof Groups];

/** All alerts by name; rules and runbooks are generated from this table. */
export const alerts = Object.assign({}, ...Object.values(groups)) as Readonly<
  Record<AlertName, Alert>
>;

/** Returns the alerts of a chart by group. */
export function groupsOf(chart: Chart): ReadonlyMap<string, readonly (readonly [string, Alert])[]> {
  const all = Object.entries<Readonly<Record<string, Alert>>>(groups).map(([name, group]) => {
    const own = Object.entries(group).filter(([, { exprs }]) => exprs[chart] !== undefined);
    return [name, own] as const;
  });
  return new Map(all.filter(([, own]) => own.length > 0));
}
