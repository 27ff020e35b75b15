import { type WaitingNic, wasOverBudget } from '../../../api/held-nics.ts';
import { namedSome } from '../../../api/named-some.ts';
import { finalizers } from '../../../api/names.ts';
import type { ExistingNodeConfig } from '../../../api/node-configs-http.ts';
import { beyondConsent } from '../../../plan/gate.ts';
import { isKeptByController, keptText } from '../../../plan/kept-nics.ts';
import type { RemovalApproval } from '../../../plan/plan.ts';
import { compareText } from '../../../plan/view.ts';
import type { Clock } from '../../../time/clock.ts';
import type { ConfigContext } from '../../model/memory/config-memory.ts';
import type { ConfigObject } from '../../model/openstack-config.ts';
import type { StatusProblem, StepFailure } from '../../model/step-failure.ts';
import { consentRefusalOf } from '../../removals/consent.ts';
import { storedHoldOf } from '../../removals/held-set.ts';
import { isOverBudget } from '../../removals/hold.ts';
import { nextSteps } from './next-steps.ts';
import { nicsOn, type OwnNode, type Withdrawal, type Withdrawn } from './withdrawal.ts';

/** Nodes and POSTs that delay an object's deletion. */
export interface Left {
  readonly nodes: readonly ExistingNodeConfig[];
  readonly problems: readonly StatusProblem[];
  /** NICs waiting for consent. */
  readonly heldNics: readonly WaitingNic[];
  /** True: nodes stay until consent. */
  readonly isHeld: boolean;
  /** Business clusters that a POST may still reach, with the remaining milliseconds. */
  readonly open: readonly { readonly providerId: string; readonly ms: number }[];
  /** True: the user's consent was open, and the removals covered by the consent were sent. */
  readonly hadConsent: boolean;
}

interface Removed {
  readonly hold: StepFailure | undefined;
  readonly removals: readonly Withdrawn[];
  readonly gone: ReadonlySet<ExistingNodeConfig>;
  /** Nodes released by deletionPolicy Delete: they wait for cleanup, not for consent. */
  readonly byPolicy: readonly OwnNode[];
}

/** Returns what delays the deletion after the removals. */
export function leftOf(
  { rest, blocked, leaving, kept }: Withdrawal,
  { hold, removals, gone, byPolicy }: Removed,
  { object }: ConfigContext,
  approval: RemovalApproval | undefined,
  { clock }: { readonly clock: Pick<Clock, 'now'> },
): Pick<Left, 'nodes' | 'problems' | 'heldNics' | 'isHeld'> {
  const nodes = [...new Set([...removals, ...leaving].map(({ node }) => node))]
    .filter((node) => !gone.has(node))
    .toSorted(byName);
  const released = new Set(byPolicy.map(({ node }) => node));
  const keptNodes = nodes.filter((node) => isKeptByController(node) && !released.has(node));
  // A namesake's nodes are reported and held when all other nodes are clean.
  const isBlocked = nodes.length === 0 && hold === undefined && blocked.length > 0;
  const stays = kept.filter(({ node }) => !gone.has(node) && !released.has(node));
  const waiting = [...stays, ...(isBlocked ? blocked : [])];
  const heldNics = [...heldBy(hold, rest, object), ...nicsOn(waiting)];
  const refusal = consentRefusalOf(object, clock.now());
  const problems: StatusProblem[] = [
    ...(hold ? [hold] : []),
    ...(keptNodes.length === 0 ? [] : [keptProblem(keptNodes, object)]),
    ...(isBlocked ? [blockedNodes(blocked, object)] : []),
    ...(heldNics.length === 0 ? [] : consentProblem(heldNics, refusal, approval)),
  ];
  return { nodes, problems, heldNics, isHeld: hold !== undefined || isBlocked };
}

/** Returns the held NICs without consent. A hold above a budget lasts, also when another hold follows. */
function heldBy(
  hold: StepFailure | undefined,
  rest: readonly OwnNode[],
  object: ConfigObject,
): WaitingNic[] {
  if (hold === undefined) return [];
  const nics = nicsOn(rest);
  const isOver = isOverBudget(hold) || wasOverBudget(storedHoldOf(object), nics);
  return nics.map((nic) => ({ ...nic, isOverBudget: isOver }));
}

/** Returns the problem for a refused consent, or for waiting NICs without consent. */
function consentProblem(
  waiting: readonly WaitingNic[],
  refusal: string | undefined,
  approval: RemovalApproval | undefined,
): StatusProblem[] {
  if (refusal === undefined && approval === undefined) return [];
  const message = refusal ?? beyondConsent(waiting.length, approval?.value ?? '');
  return [{ reason: 'RemovalHeld', message }];
}

function byName(a: ExistingNodeConfig, b: ExistingNodeConfig): number {
  return compareText(a.nodeName, b.nodeName);
}

const shownNodes = 5;

function keptProblem(kept: readonly ExistingNodeConfig[], object: ConfigObject): StatusProblem {
  const form = { separator: '; ', before: '; ', noun: 'node' };
  const nodes = namedSome(kept.map(keptText), shownNodes, form);
  return { reason: 'RemovalHeld', message: `${nodes}; ${nextSteps(object)}` };
}

function blockedNodes(blocked: readonly OwnNode[], { metadata }: ConfigObject): StatusProblem {
  const names = blocked.map(({ node }) => node.nodeName).join(', ');
  const message = `${names}: delivered by an earlier OpenstackConfig ${metadata.namespace}/${metadata.name}, perhaps in another management cluster, and not by this one; to remove their NICs, set the annotation multinic.io/allow-removals to a new value; to keep them, remove the finalizer ${finalizers.openstackConfig}`;
  // Not RemovalHeld: the deletion guard reads RemovalHeld in the status as its own decision.
  return { reason: 'NameConflict', message };
}
