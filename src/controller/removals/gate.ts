import { findCondition, rfc3339 } from '../../api/condition.ts';
import { counted } from '../../api/counted.ts';
import type { KnownNics } from '../../api/known-nics.ts';
import type { NodeConfigStatus } from '../../api/multinicnodeconfig.ts';
import { annotations, businessGroup } from '../../api/names.ts';
import {
  allowedIn,
  type BudgetUse,
  countsInBudget,
  decideRemovals,
  exceededBudget,
  type HoldCode,
  settleMs,
} from '../../api/removals.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import { sharedReads } from '../../kube/client/shared-reads.ts';
import { crds, type Node, namespaces } from '../../kube/core-resources.ts';
import { type KubeObject, keyOf } from '../../kube/object.ts';
import type { Clock } from '../../time/clock.ts';
import { type Contents, contentHash } from '../jobs/request.ts';
import type { AllowedRemoval } from '../jobs/run-basis.ts';
import type { AgentTask } from '../jobs/runner.ts';
import { type NodeConfig, nodeConfigs } from '../objects/stores.ts';
import {
  asAllowed,
  endedConsentOf,
  type Removal,
  type RemovalCause,
  removalsOf,
  userConsentOf,
} from './bases.ts';
import type { Budget } from './budget.ts';
import { holdAfterDecision } from './hold-status.ts';
import { knownOn } from './known.ts';
import type { RemovalLedger } from './ledger.ts';
import { listedMacs, lostNics } from './losses.ts';

type HeldRemovals = NodeConfigStatus['heldRemovals'];

/** Which NICs a run may remove. */
type GateDecision =
  /** Simultaneous removals may follow; decide again later. */
  | { readonly kind: 'early'; readonly forMs: number }
  | {
      readonly kind: 'decided';
      readonly known: KnownNics['kind'];
      /** Removals that the run may make. */
      readonly removals: readonly AllowedRemoval[];
      /** Message about NICs that stay; undefined: none is held. */
      readonly held: string | undefined;
      /** New value of `status.heldRemovals`. */
      readonly status: HeldRemovals;
    };

export interface GateInput {
  readonly config: NodeConfig;
  /** Node of the run. */
  readonly node: Node;
  readonly action: AgentTask['action'];
  readonly contents: Contents;
  readonly cause: RemovalCause;
}

/** Decides about all removals by agents. */
export interface Gate {
  decide(input: GateInput, signal: AbortSignal): Promise<GateDecision>;
  /** Call when the object is gone. */
  forget(key: string): void;
}

interface GateOptions {
  readonly client: Pick<KubeClient, 'find'>;
  readonly budget: Pick<Budget, 'useFor'>;
  readonly ledger: Pick<RemovalLedger, 'read'>;
  readonly namespace: string;
  readonly clock: Clock;
}

export function createGate(options: GateOptions): Gate {
  const { client, budget, ledger, namespace, clock } = options;
  /** Monotonic time of an object's first request, by key and generation. */
  const firstRequests = new Map<string, { readonly act: string; readonly since: number }>();
  const readTerminating = sharedReads(async (signal) => {
    const crdName = `${nodeConfigs.plural}.${businessGroup}`;
    const [home, kind] = await Promise.all([
      client.find(namespaces, { name: namespace }, { signal }),
      client.find(crds, { name: crdName }, { signal }),
    ]);
    return endOf(`namespace ${namespace}`, home) ?? endOf(`CRD ${crdName}`, kind);
  });

  async function decide(input: GateInput, signal: AbortSignal): Promise<GateDecision> {
    const { config, node, action, contents, cause } = input;
    const known = knownOn(config, node);
    const lost = lostNics(config, contents, known);
    const nothing = { kind: 'decided', known: known.kind, removals: [], held: undefined } as const;
    if (!lost || lost.length === 0) {
      firstRequests.delete(keyOf(config));
      return { ...nothing, status: undefined };
    }
    const now = clock.now();
    const { generation = 0 } = config.metadata;
    const task = { action, content: contentHash(node, contents), generation };
    const all = removalsOf({ config, lost, cause, task, now });
    const standing = all.filter(({ isStanding }) => isStanding);
    const undecided = all.filter(({ isStanding }) => !isStanding);
    const open = cause === 'deletion' ? await withoutEarlierConsent(undecided, signal) : undecided;
    const limit = await limitOf(open, input, signal);
    const { allowed, held } = decideRemovals(open, limit);
    if (allowed.some(countsInBudget)) {
      const forMs = settle(config);
      if (forMs > 0) return { kind: 'early', forMs };
    }
    // Evidence that the node contradicts is tried again by later runs: the link may be gone then.
    const unproven = held.flatMap(({ removal }) =>
      removal.basis === 'evidence' ? [{ ...removal, isContradicted: false }] : [],
    );
    const removals = [...standing, ...allowed, ...unproven].map(asAllowed);
    if (held.length === 0)
      return { ...nothing, removals, status: unusedConsent(config, allowed, now) };
    const macs = held.map(({ removal }) => removal.mac).toSorted();
    const hold = { macs, code: codeOf(held, limit) };
    return {
      ...nothing,
      removals,
      held: textOf({ input, ...hold, limit, now }),
      status: holdAfterDecision(config, hold, now),
    };
  }

  /**
   * A consent to a deletion is none to the deletion of the CRD or the namespace, which deletes all objects: only a
   * consent given afterwards counts.
   */
  async function withoutEarlierConsent(
    open: readonly Removal[],
    signal: AbortSignal,
  ): Promise<readonly Removal[]> {
    if (!open.some(({ basis }) => basis === 'consent')) return open;
    const ending = await readTerminating(signal);
    if (!ending) return open;
    return open.map((removal) => {
      const { consentedAt = 0, ...rest } = removal;
      const isEarlier = consentedAt < ending.since;
      return removal.basis === 'consent' && isEarlier ? { ...rest, basis: 'named' } : removal;
    });
  }

  /** Returns the budgets for counted removals, and any reason to wait with budget left. */
  async function limitOf(
    open: readonly Removal[],
    input: GateInput,
    signal: AbortSignal,
  ): Promise<Limit> {
    const inBudget = open.filter(countsInBudget).map(({ mac }) => mac);
    if (inBudget.length === 0) return { budgets: [], isHeld: false };
    const { config, cause, contents } = input;
    const ending = cause === 'deletion' ? await readTerminating(signal) : undefined;
    if (ending) return { budgets: [], isHeld: true, why: ending.why };
    const isHeld = wasHeld(config, contents);
    const recorded = await ledger.read(signal);
    if (recorded.kind === 'unknown') {
      const code = isHeld ? 'OverBudget' : 'NotCounted';
      return { budgets: [], isHeld: true, code, why: recorded.why };
    }
    return { budgets: budget.useFor(config, inBudget, recorded.entries), isHeld };
  }

  /** Returns milliseconds to wait for simultaneous removals. */
  function settle(config: NodeConfig): number {
    const key = keyOf(config);
    const act = `${config.metadata.uid} ${config.metadata.generation}`;
    const first = firstRequests.get(key);
    const since = first?.act === act ? first.since : clock.monotonicMs();
    firstRequests.set(key, { act, since });
    return Math.max(0, since + settleMs - clock.monotonicMs());
  }

  return { decide, forget: (key) => void firstRequests.delete(key) };
}

interface Limit {
  readonly budgets: readonly BudgetUse[];
  readonly isHeld: boolean;
  /** Code of held counted removals; undefined: OverBudget. */
  readonly code?: HoldCode;
  /** Why counted removals wait with budget left; undefined: the budget decides. */
  readonly why?: string;
}

/** Returns the code that a user must act on first. */
function codeOf(held: readonly { readonly code: HoldCode }[], { code }: Limit): HoldCode {
  const isOver = held.some((one) => one.code === 'OverBudget');
  return isOver ? (code ?? 'OverBudget') : 'SideEffect';
}

/** Returns the hold with a user's consent, visible until a run is queued. */
function unusedConsent(config: NodeConfig, allowed: readonly Removal[], now: Date): HeldRemovals {
  const consent = userConsentOf(config, now);
  const isUsed = allowed.every(({ basis }) => basis !== 'consent');
  return consent === undefined || isUsed ? undefined : { ...config.status?.heldRemovals, consent };
}

/** `MassDeletion` is the reason name in earlier versions. */
const heldReasons: readonly (string | undefined)[] = ['RemovalHeld', 'MassDeletion'];

/**
 * True if removals were held above the budget, and none was undone: the hold stays until consent, even with budget left
 * and after other edits. Only a spec that lists a held NIC again undoes its removal: its basis may change, and its port
 * may be detached. Earlier versions stored only the condition, and no requested NICs in the record.
 */
function wasHeld(config: NodeConfig, contents: Contents): boolean {
  const { metadata, status } = config;
  const held = status?.heldRemovals;
  if (held) {
    const isOwn = held.uid === metadata.uid && held.code === 'OverBudget';
    const listed = listedMacs(contents);
    return isOwn && !(held.macs ?? []).some((mac) => listed.has(mac));
  }
  return status?.applied?.requested === undefined && wasHeldByEarlierVersion(config);
}

function wasHeldByEarlierVersion({ metadata, status }: NodeConfig): boolean {
  const ready = findCondition(status?.conditions, 'Ready');
  return heldReasons.includes(ready?.reason) && ready?.observedGeneration === metadata.generation;
}

interface HoldText {
  readonly input: GateInput;
  readonly macs: readonly string[];
  readonly code: HoldCode;
  readonly limit: Limit;
  readonly now: Date;
}

function textOf({ input: { config, node, cause }, macs, code, limit, now }: HoldText): string {
  const nics = `${macs.length === 1 ? 'NIC' : 'NICs'} ${macs.join(', ')}`;
  const what = `${nics} would be removed from node ${node.metadata.name}: ${causes[cause]}`;
  const why = code === 'SideEffect' ? 'no edit of this object names them' : overText(limit);
  const consent = endedConsentOf(config, now);
  const ended = consent
    ? `; the consent of ${consent.at} ended before an agent could start (now ${rfc3339(now)})`
    : '';
  return `${code}: ${what}, and ${why}${ended}; ${nextStep(cause, code)}`;
}

const causes: Readonly<Record<RemovalCause, string>> = {
  edit: 'the spec does not list them',
  deletion: 'the object is deleted',
  otherNode: 'the object now refers to another node',
};

function overText({ budgets, why }: Limit): string {
  if (why !== undefined) return why;
  const use = exceededBudget(budgets);
  if (!use) return 'removals held above the budget wait for consent, also with budget left';
  const { scope, used, total } = use;
  return `${scopeTexts[scope](used)} of ${total} would lose NICs within an hour, more than the ${allowedIn(use)} that need no consent`;
}

const scopeTexts: Readonly<Record<BudgetUse['scope'], (used: number) => string>> = {
  clusterNodes: (used) => counted(used, 'node'),
  clusterNics: (used) => counted(used, 'NIC'),
  configNics: (used) => `${counted(used, 'NIC')} of the OpenstackConfig,`,
};

/** Namespace or CRD in deletion: all objects go without a named act. */
interface Ending {
  readonly why: string;
  /** Start of the deletion, in milliseconds since 1970. */
  readonly since: number;
}

/** A missing namespace or CRD was removed by force, which is no consent to clean the nodes. */
function endOf(what: string, owner: KubeObject | undefined): Ending | undefined {
  if (!owner) return { why: `${what} no longer exists`, since: Infinity };
  const { deletionTimestamp } = owner.metadata;
  if (deletionTimestamp === undefined) return undefined;
  // The API server cuts the time to seconds.
  return { why: `${what} is being deleted`, since: Date.parse(deletionTimestamp) + 1_000 };
}

const toDelete = `to confirm, set the annotation ${annotations.deleteConsent}=<RFC 3339 time> on the deleted objects`;
const toEdit = `to confirm, set the annotation ${annotations.allowRemovals} to a new value`;

function nextStep(cause: RemovalCause, code: HoldCode): string {
  if (cause === 'deletion') return toDelete;
  if (cause === 'otherNode')
    return `${toEdit}; otherwise set spec.instanceId and spec.nodeName back`;
  const keep = code === 'SideEffect' ? 'list the NICs in spec.interfaces' : 'undo the edit';
  return `${toEdit}; otherwise ${keep}`;
}
