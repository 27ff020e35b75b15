import { findCondition } from '../api/condition.ts';
import { counted } from '../api/counted.ts';
import { knownNics } from '../api/known-nics.ts';
import type { InterfaceSpec } from '../api/multinicnodeconfig.ts';
import type { ExistingNodeConfig } from '../api/node-configs-http.ts';
import type { Reason } from '../api/reasons.ts';
import type { Question } from './observation.ts';
import type { KeptNic, NodePlan, Problem, SentRelease } from './plan.ts';
import { isEvidence } from './removal.ts';
import type { ExistingObject, View } from './view.ts';

/**
 * True if the controller keeps NICs until evidence or consent. Ready may name another problem first, and earlier
 * controllers report no `heldRemovals`.
 */
export function isKeptByController({ status }: Pick<ExistingNodeConfig, 'status'>): boolean {
  const isNamed = (status?.heldRemovals?.macs ?? []).length > 0;
  const reason = findCondition(status?.conditions, 'Ready')?.reason;
  return isNamed || reason === ('RemovalHeld' satisfies Reason);
}

/** NICs kept by the controller on a node, and questions about their evidence. */
interface Kept {
  readonly kept: Pick<NodePlan, 'keptNics'>;
  readonly ask: readonly Question[];
}

/** Returns the NICs kept by the controller and missing from the plan, with evidence if known. */
export function keptNicsOf(
  existing: ExistingObject | undefined,
  planned: readonly InterfaceSpec[],
  serverId: string,
  view: View,
): Kept {
  if (existing === undefined || !isKeptByController(existing)) return { kept: {}, ask: [] };
  const isThere = existing.deletionTimestamp === undefined;
  // Port evidence decides about listed NICs.
  const listed = isThere ? [...planned, ...(existing.spec.interfaces ?? [])] : [];
  const lists = new Set(listed.map(({ macAddress }) => macAddress.toLowerCase()));
  const macs = keptMacs(existing);
  const gone = macs.filter((mac) => !lists.has(mac));
  const isNamed = macs.length > 0 || existing.status?.heldRemovals !== undefined;
  // The spec lists the kept NICs again, or no NIC is known: nothing waits for evidence or consent.
  if (gone.length === 0 && isNamed) return { kept: {}, ask: [] };
  const nics = gone.map((macAddress) => judge(macAddress, existing, serverId, view));
  return {
    kept: { keptNics: nics.map(({ nic }) => nic) },
    ask: nics.flatMap(({ ask }) => ask ?? []),
  };
}

/**
 * Returns the NICs that a deletion removes besides the listed NICs: a DELETE has one basis, and a consent must cover all
 * NICs on the node.
 */
export function unlistedNicsOf(
  existing: ExistingObject,
  serverId: string,
  view: View,
): Kept['kept'] {
  const { kept } = keptNicsOf(existing, [], serverId, view);
  if (kept.keptNics?.length === 0) return kept;
  const { uid, spec, status } = existing;
  const known = knownNics({ uid }, status);
  const listed = [...(spec.interfaces ?? []), ...(kept.keptNics ?? [])];
  const macs = new Set(listed.map(({ macAddress }) => macAddress.toLowerCase()));
  const unlisted = (known.kind === 'read' ? known.nics : []).filter(({ mac }) => !macs.has(mac));
  if (unlisted.length === 0) return kept;
  const more = unlisted.map(({ mac }) => judge(mac, existing, serverId, view).nic);
  return { keptNics: [...(kept.keptNics ?? []), ...more] };
}

/** Returns the kept NICs' MAC addresses; earlier controllers report only known NICs. */
export function keptMacs({ uid, status }: Pick<ExistingNodeConfig, 'uid' | 'status'>): string[] {
  const reported = status?.heldRemovals?.macs;
  if (reported) return reported.map((mac) => mac.toLowerCase());
  const known = knownNics({ uid }, status);
  return known.kind === 'read' ? known.nics.map(({ mac }) => mac) : [];
}

function judge(
  macAddress: string,
  { uid, generation }: ExistingObject,
  serverId: string,
  view: View,
): { readonly nic: KeptNic; readonly ask?: Question } {
  const question = { portId: undefined, macAddress, serverId };
  const verdict = view.verdict(question);
  const isDeleted = view.servers.get(serverId)?.status === 'DELETED';
  if (isDeleted || isEvidence(verdict)) return { nic: { macAddress, basis: 'evidence' } };
  const sent = view.input.sentReleases.find(
    (one) => isOf(one, { uid, generation }) && one.macAddress === macAddress,
  );
  if (sent?.basis === 'evidence') return { nic: { macAddress, basis: 'evidence' } };
  const nic = { macAddress, basis: 'sideEffect' } as const;
  const isAttached = view
    .portsOf(serverId)
    .some((port) => port.macAddress.toLowerCase() === macAddress);
  return isAttached || verdict !== undefined || serverId === '' ? { nic } : { nic, ask: question };
}

/** True if the release was sent for this object version. */
export function isOf(
  sent: Pick<SentRelease, 'uid' | 'generation'>,
  { uid, generation }: Pick<SentRelease, 'uid' | 'generation'>,
): boolean {
  return sent.uid === uid && sent.generation === generation;
}

/** Returns the problem for an object in deletion with kept NICs. */
export function keptProblem(
  existing: Pick<ExistingNodeConfig, 'nodeName' | 'deletionTimestamp' | 'status'>,
): Problem[] {
  const { nodeName, deletionTimestamp } = existing;
  if (deletionTimestamp === undefined || !isKeptByController(existing)) return [];
  const message = `${keptText(existing)}; to remove them, set the annotation multinic.io/allow-removals to a new value`;
  return [{ reason: 'RemovalHeld', subject: `node ${nodeName}`, message }];
}

/** Returns the number kept on a node, and the controller's code, in words. */
export function keptText({
  nodeName,
  status,
}: Pick<ExistingNodeConfig, 'nodeName' | 'status'>): string {
  const { code, macs = [] } = status?.heldRemovals ?? {};
  const nics = macs.length === 0 ? 'its NICs' : counted(macs.length, 'NIC');
  const why = code === undefined ? '' : ` (${code})`;
  return `node ${nodeName}: its MultiNicNodeConfig is being deleted, and the controller keeps ${nics}${why}`;
}
