import type { NodeConfigStatus } from '../../../api/multinicnodeconfig.ts';
import { type BlockedNic, blockedNic } from '../../../api/read-http.ts';
import { holdCodeOf } from '../../../api/removals.ts';
import type { KeptNic, NodePlan, Plan, PlanInput, Removal } from '../../../plan/plan.ts';

type OfNode = (node: NodePlan, status: NodeConfigStatus | undefined) => BlockedNic[];

/**
 * Returns a function for the NICs of a node whose removal waits for consent. The plan's problems name the holds by the
 * operator; the object's status names the holds by the controller.
 */
export function blockedNicsIn({ problems, askServers }: Plan, { selection }: PlanInput): OfNode {
  const holds = problems.filter(({ reason }) => reason === 'RemovalHeld');
  const isOverBudget = holds.some(({ message }) => holdCodeOf(message) === 'OverBudget');
  const sideEffects = new Set(
    holds
      .filter(({ message }) => holdCodeOf(message) === 'SideEffect')
      .map(({ subject }) => subject),
  );
  const unread = new Set(askServers);
  const unclear = new Set(
    problems.filter(({ reason }) => reason === 'RemovalUnconfirmed').map(({ subject }) => subject),
  );

  function codeOf({ cause, basis }: Removal, node: NodePlan): BlockedNic['code'] {
    const subject = `node ${node.nodeName}`;
    if (cause === 'noAddress' || cause === 'unconfirmed') return undefined;
    if (basis === 'sideEffect') return sideEffects.has(subject) ? 'SideEffect' : undefined;
    // These removals wait for evidence, not for consent.
    const isOpen = unread.has(node.instanceId) || unclear.has(subject);
    const isUnresolved = basis === 'evidence' && !selection.serversComplete;
    return isOverBudget && !isOpen && !isUnresolved ? 'OverBudget' : undefined;
  }

  return (node, status) => [
    ...node.removals.unconfirmed.flatMap((removal) => {
      const code = codeOf(removal, node);
      const { name, macAddress, basis } = removal;
      return code === undefined ? [] : [{ name, macAddress, basis, code }];
    }),
    // A DELETE removes the whole node.
    ...(node.action === 'delete' ? [] : (node.keptNics ?? [])).flatMap((nic) =>
      keptNic(nic, status),
    ),
  ];
}

/** Returns a NIC that the controller keeps; none with evidence or consent. */
function keptNic(
  { macAddress, basis }: KeptNic,
  status: NodeConfigStatus | undefined,
): BlockedNic[] {
  if (basis !== 'sideEffect') return [];
  const code = blockedNic.shape.code.safeParse(status?.heldRemovals?.code).data;
  return [{ macAddress, ...(code === undefined ? {} : { code, ...basisOf(code) }) }];
}

function basisOf(code: NonNullable<BlockedNic['code']>): Pick<BlockedNic, 'basis'> {
  if (code === 'NotKnownYet') return {};
  return { basis: code === 'OverBudget' ? 'named' : 'sideEffect' };
}
