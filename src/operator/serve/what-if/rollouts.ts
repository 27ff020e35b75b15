import { findCondition } from '../../../api/condition.ts';
import type { InterfaceSpec } from '../../../api/multinicnodeconfig.ts';
import type { PlanView } from '../../../api/read-http.ts';
import { rolloutSteps } from '../../../api/rollout-steps.ts';
import { isSameJson } from '../../../api/same-json.ts';
import {
  adoption,
  changedSettingsIn,
  isRouting,
  labelOf,
  type Setting,
  sharedOf,
  subnetsOf,
} from '../../../api/shared-content.ts';
import type { ExistingNode, NodePlan } from '../../../plan/plan.ts';

type RolloutView = NonNullable<PlanView['rollouts']>[number];

/** A planned node with the existing object. */
export interface PlannedChange {
  readonly node: Pick<NodePlan, 'action' | 'interfaces' | 'adopts'>;
  readonly existing: ExistingNode | undefined;
  /** True if NICs change. */
  readonly hasChanges: boolean;
}

/** Nodes with a change in common: a setting, or another generation. */
interface Revision {
  /** Positions of the nodes in the plan. */
  readonly nodes: Set<number>;
  /** Changed fields by subnet; empty: another generation. */
  readonly changes: Map<string, Set<string>>;
  /** Number of further nodes that have the revision already. */
  readonly there: number;
}

/**
 * Returns changes applied in steps: a new OpenstackConfig generation, each changed setting of recorded subnets, and a
 * new consent to adoption.
 * Changes of the same nodes are a single rollout; a paused node is in no step. `generation`: undefined for a what-if
 * edit.
 */
export function rolloutsOf(
  planned: readonly PlannedChange[],
  generation: number | undefined,
): readonly RolloutView[] {
  const there = planned.filter(({ existing }) => isOf(existing, generation)).length;
  const revisions = new Map<string, Revision>();
  const revisionOf = (key: string, further = 0): Revision => {
    const revision = revisions.get(key) ?? { nodes: new Set(), changes: new Map(), there: further };
    revisions.set(key, revision);
    return revision;
  };
  for (const [at, change] of planned.entries()) {
    const { existing } = change;
    if (isNewAdoption(change)) revisionOf(labelOf(adoption)).nodes.add(at);
    if (!existing || !isChanged(change)) continue;
    for (const { label, subnet, names } of settingsIn(existing, change.node.interfaces)) {
      const revision = revisionOf(label);
      revision.nodes.add(at);
      revision.changes.set(subnet, new Set([...(revision.changes.get(subnet) ?? []), ...names]));
    }
    if (!isOf(existing, generation)) revisionOf('generation', there).nodes.add(at);
  }
  const bySameNodes = Map.groupBy(revisions.values(), ({ nodes }) => [...nodes].join());
  return [...bySameNodes.values()].flatMap((group) => rolloutIn(group, planned));
}

/** Returns the rollout of revisions with the same nodes. */
function rolloutIn(
  group: readonly Revision[],
  planned: readonly PlannedChange[],
): readonly RolloutView[] {
  const all = [...(group[0]?.nodes ?? [])];
  const nodes = all.filter((at) => !isPaused(planned[at]?.existing)).length;
  if (nodes === 0) return [];
  const total = all.length + Math.min(...group.map(({ there }) => there));
  const changes = new Map<string, Set<string>>();
  for (const [subnet, names] of group.flatMap((revision) => [...revision.changes])) {
    changes.set(subnet, new Set([...(changes.get(subnet) ?? []), ...names]));
  }
  return [{ nodes, changes: viewOf(changes), steps: [...rolloutSteps(nodes, total)] }];
}

function viewOf(changes: ReadonlyMap<string, ReadonlySet<string>>): RolloutView['changes'] {
  return [...changes]
    .map(([subnet, names]) => ({ subnet, fields: [...names].toSorted() }))
    .toSorted((a, b) => (a.subnet < b.subnet ? -1 : 1));
}

function isPaused(existing: ExistingNode | undefined): boolean {
  return findCondition(existing?.status?.conditions, 'Paused')?.status === 'True';
}

function isOf(existing: ExistingNode | undefined, generation: number | undefined): boolean {
  return generation !== undefined && existing?.source?.generation === generation;
}

/** True if no agent run on the node has had the consent to adoption: existing configuration may change. */
function isNewAdoption({ node, existing }: PlannedChange): boolean {
  if (node.action !== 'post' || node.adopts !== true) return false;
  return existing?.status?.applied?.existingConfiguration !== 'Adopt';
}

/** True if the node has configured NICs, and its content changes. */
function isChanged({ node, existing, hasChanges }: PlannedChange): boolean {
  const macs = existing?.status?.applied?.macs ?? [];
  return node.action === 'post' && hasChanges && macs.length > 0;
}

const fields = ['gateway', 'routes', 'subnets'] as const;

/** Returns the changed settings per NIC, with their main subnet and fields that differ. */
function settingsIn({ spec, status }: ExistingNode, planned: readonly InterfaceSpec[]) {
  const before = new Map((spec.interfaces ?? []).map((nic) => [nic.macAddress.toLowerCase(), nic]));
  const { shared = {} } = status?.applied ?? {};
  const now = sharedOf(planned);
  return planned.flatMap((nic) => {
    const was = before.get(nic.macAddress.toLowerCase());
    const [subnet] = subnetsOf(nic);
    if (subnet === undefined || !was) return [];
    return changedSettingsIn(nic, shared, now).flatMap((setting) => {
      const names = fieldsOf(setting, nic).filter((name) => !isSameJson(was[name], nic[name]));
      return names.length === 0 ? [] : [{ label: labelOf(setting), subnet, names }];
    });
  });
}

/** Returns the fields that a setting covers. */
function fieldsOf({ key }: Setting, { networkId }: InterfaceSpec) {
  if (isRouting(key)) return ['routing'] as const;
  if (networkId?.toLowerCase() === key) return ['mtu'] as const;
  return networkId ? fields : (['mtu', ...fields] as const);
}
