import type { InterfaceSpec } from '../../../api/multinicnodeconfig.ts';
import type { PlanView } from '../../../api/read-http.ts';
import { rolloutSteps } from '../../../api/rollout-steps.ts';
import { isSameJson } from '../../../api/same-json.ts';
import { changedShared, sharedOf, subnetsOf } from '../../../api/shared-content.ts';
import type { ExistingNode, NodePlan } from '../../../plan/plan.ts';

type RolloutView = NonNullable<PlanView['rollouts']>[number];

/** A planned node with the existing object. */
export interface PlannedChange {
  readonly node: Pick<NodePlan, 'action' | 'interfaces' | 'adopts'>;
  readonly existing: ExistingNode | undefined;
  /** True if NICs change. */
  readonly hasChanges: boolean;
}

interface Revision {
  /** Changed settings, and whether the generation differs. */
  readonly key: string;
  readonly changes: RolloutView['changes'];
  /** True if the revision is the generation, without changed settings. */
  readonly isGeneration: boolean;
}

/**
 * Returns changes applied in steps: a new OpenstackConfig generation, and changed settings in recorded subnets. Nodes
 * with the same changes form a single revision. `generation`: undefined for a what-if edit.
 */
export function rolloutsOf(
  planned: readonly PlannedChange[],
  generation: number | undefined,
): readonly RolloutView[] {
  const inGeneration = planned.filter(({ existing }) => isOf(existing, generation)).length;
  const changed = planned.filter(isChanged);
  const revisions = changed.flatMap((change) => revisionOf(change, generation) ?? []);
  return [...Map.groupBy(revisions, ({ key }) => key).values()].flatMap((group) => {
    const [first] = group;
    if (!first) return [];
    // An object without a change stays in its generation.
    const size = group.length + (first.isGeneration ? inGeneration : 0);
    const steps = [...rolloutSteps(group.length, size)];
    return [{ nodes: group.length, changes: first.changes, steps }];
  });
}

/** Returns the revision awaited by a node; undefined: the change does not wait. */
function revisionOf(change: PlannedChange, generation: number | undefined): Revision | undefined {
  const {
    node: { interfaces },
    existing,
  } = change;
  if (isNewAdoption(change)) return { key: 'adoption', changes: [], isGeneration: false };
  if (!existing) return undefined;
  const isOtherGeneration = !isOf(existing, generation);
  const { shared = {} } = existing.status?.applied ?? {};
  const labels = changedShared(shared, sharedOf(interfaces));
  if (!isOtherGeneration && labels.length === 0) return undefined;
  const key = [isOtherGeneration, ...labels].join(' ');
  const changes = labels.length === 0 ? [] : changesIn(existing, interfaces);
  return { key, changes, isGeneration: labels.length === 0 };
}

function isOf(existing: ExistingNode | undefined, generation: number | undefined): boolean {
  return generation !== undefined && existing?.source?.generation === generation;
}

/** True if no agent run on the node has had the consent to adoption: existing configuration may change. */
function isNewAdoption({ node, existing }: PlannedChange): boolean {
  return node.adopts === true && existing?.status?.applied?.existingConfiguration !== 'Adopt';
}

/** True if the content of a node with configured NICs changes, or the consent to adoption is new. */
function isChanged(change: PlannedChange): boolean {
  const { node, existing, hasChanges } = change;
  if (node.action === 'post' && isNewAdoption(change)) return true;
  const macs = existing?.status?.applied?.macs ?? [];
  return node.action === 'post' && hasChanges && macs.length > 0;
}

const fields = ['mtu', 'gateway', 'routes', 'routing', 'subnets'] as const;

/** Returns the differing fields by subnet. */
function changesIn({ spec }: ExistingNode, planned: readonly InterfaceSpec[]) {
  const before = new Map((spec.interfaces ?? []).map((nic) => [nic.macAddress.toLowerCase(), nic]));
  const found = new Map<string, Set<string>>();
  for (const nic of planned) {
    const was = before.get(nic.macAddress.toLowerCase());
    const [subnet] = subnetsOf(nic);
    const differing = was ? fields.filter((field) => !isSameJson(was[field], nic[field])) : [];
    if (subnet === undefined || differing.length === 0) continue;
    found.set(subnet, new Set([...(found.get(subnet) ?? []), ...differing]));
  }
  return [...found]
    .map(([subnet, names]) => ({ subnet, fields: [...names].toSorted() }))
    .toSorted((a, b) => (a.subnet < b.subnet ? -1 : 1));
}
