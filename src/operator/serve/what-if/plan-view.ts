import { createHash } from 'node:crypto';
import { rfc3339 } from '../../../api/condition.ts';
import type { PlanView } from '../../../api/read-http.ts';
import { canonicalJson } from '../../../api/spec-hash.ts';
import { keyOf } from '../../../kube/object.ts';
import type { ExistingNode, NodePlan, PortVerdict } from '../../../plan/plan.ts';
import type { PlannedContext } from '../../flow/sync/observe-and-plan.ts';
import { unsupportedIn } from '../../flow/sync/problems.ts';
import { generationOf } from '../../model/openstack-config.ts';
import { blockedNicsIn } from './blocked-nics.ts';
import { type Edit, isEmptyEdit } from './edit.ts';
import { nicChanges } from './nic-changes.ts';
import { type PlannedChange, rolloutsOf } from './rollouts.ts';

/** A plan without calculation time: an equal later plan replaces only the time. */
export type Calculated = Omit<PlanView, 'calculatedAt' | 'dryRun'>;

type Planned = Pick<PlannedContext, 'object' | 'config' | 'source' | 'observed' | 'planned'>;

/** Builds a plan's view; yields after each node, because thousands of nodes take long. */
export function* planViewInSteps(context: Planned, edit?: Edit): Generator<undefined, Calculated> {
  const { object, config, source, planned } = context;
  const { plan, input } = planned;
  const existing = new Map(input.held.map((node) => [node.nodeName, node]));
  const heldOn = blockedNicsIn(plan, input);
  const nodes: PlanView['nodes'] = [];
  const changes: PlannedChange[] = [];
  const hash = createHash('sha256');
  const { uid } = source;
  const mode = config.viola.observes ? ({ mode: 'Observe' } as const) : {};
  const adoption =
    input.adoption === 'consented' ? ({ existingConfiguration: 'Adopt' } as const) : {};
  const about = { uid, generation: generationOf(object) };
  hash.update(canonicalJson({ config: about, edit, ...mode, ...adoption }));
  for (const node of plan.nodes) {
    hash.update(canonicalJson(hashed(node)));
    const before = existing.get(node.nodeName);
    const view = isShown(node) ? nodeView(node, before, heldOn) : undefined;
    if (view) nodes.push(view);
    changes.push({ node, existing: before, hasChanges: changesNics(view) });
    yield;
  }
  for (const verdict of plan.ports) {
    hash.update(JSON.stringify(fieldsOf(verdict)));
    yield;
  }
  return {
    config: keyOf(source),
    generation: generationOf(object),
    ...mode,
    ...adoption,
    servers: plan.summary.servers,
    ports: plan.ports.length,
    nodes,
    // A server without NICs and without an object is no node.
    unchanged: plan.nodes.filter(({ action, base }) => action === 'none' && base !== null).length,
    heldRemovals: plan.heldRemovals ?? 0,
    budgets: [...plan.budgets],
    problems: problemsIn(context),
    verdicts: [...plan.ports],
    ...(input.clusterNetworks ? { networks: [...input.clusterNetworks] } : {}),
    agentJobs: plan.nodes.filter(({ action }) => action !== 'none').length,
    rollouts: [...rolloutsOf(changes, plannedGeneration(object, edit))],
    hash: hash.digest('hex'),
  };
}

function changesNics(node: PlanView['nodes'][number] | undefined): boolean {
  return node !== undefined && node.nics.length > 0;
}

/** An edit would make a new generation. */
function plannedGeneration(object: Planned['object'], edit: Edit | undefined): number | undefined {
  return edit && !isEmptyEdit(edit) ? undefined : generationOf(object);
}

/** A node without action is sent nothing: its NICs stay those of `base`. In most syncs these are all NICs. */
function hashed(node: NodePlan) {
  return node.action === 'none' ? { ...node, interfaces: undefined } : node;
}

function fieldsOf({ portId, serverId, address, nic, reason, message }: PortVerdict) {
  return [portId, serverId, address, nic, reason, message];
}

/** Adds the calculation time. */
export function datedPlan(plan: Calculated, at: Date): PlanView {
  return { ...plan, calculatedAt: rfc3339(at) };
}

function isShown({ action, removals, keptNics = [] }: NodePlan): boolean {
  return action !== 'none' || removals.unconfirmed.length + keptNics.length > 0;
}

function nodeView(
  node: NodePlan,
  existing: ExistingNode | undefined,
  heldOn: ReturnType<typeof blockedNicsIn>,
): PlanView['nodes'][number] {
  const { nodeName, instanceId, why, removals, keptNics = [] } = node;
  const kept = keptNics.filter(({ basis }) => basis === 'sideEffect');
  const heldNics = heldOn(node, existing?.status);
  return {
    nodeName,
    instanceId,
    action: actionOf(node),
    why,
    nics: node.action === 'none' ? [] : nicChanges(node, existing?.spec.interfaces ?? []),
    unconfirmedRemovals: [
      ...removals.unconfirmed.map(({ name }) => name),
      // The object no longer names kept NICs.
      ...kept.map(({ macAddress }) => macAddress),
    ],
    ...(heldNics.length > 0 ? { heldNics } : {}),
  };
}

function actionOf({ action, base }: NodePlan): PlanView['nodes'][number]['action'] {
  if (action === 'post') return base === null ? 'create' : 'update';
  return action;
}

/** Returns the read problems, then the plan's problems. */
function problemsIn({ observed, planned }: Planned): PlanView['problems'] {
  const { subnets, servers, cloud, unreadable } = observed;
  const reads = [
    ...unsupportedIn(observed),
    ...subnets.problems,
    ...servers.problems,
    ...cloud.problems,
    ...servers.flaws,
    ...cloud.flaws,
  ];
  const once = new Map(reads.map((problem) => [problem.message, problem]));
  return [
    ...[...once.values()].map(({ reason, message }) => ({ reason, subject: '', message })),
    ...unreadable.map(({ objectName, message }) => ({
      reason: 'ViolaPostError',
      subject: `node ${objectName}`,
      message: `${message}; a sync leaves the node unchanged`,
    })),
    ...planned.plan.problems.map(({ reason, subject, message }) => ({ reason, subject, message })),
  ];
}
