import type { NodeView } from '../../api/read-http.ts';
import { isObserved } from '../../explain/subject.ts';

/** A checked node's problem beside drift. */
export interface NodeProblem {
  /** NIC, or the node if no NIC alone has the problem. */
  readonly name: string;
  readonly isNode: boolean;
  /** Such as "PathBypassed: packets leave by eth0". */
  readonly text: string;
}

/**
 * Returns a checked node's problems beside drift: NICs that are not Configured, a failed check, and Ready not True. Mode
 * Observe is no problem.
 */
export function problemsOf(node: NodeView): NodeProblem[] {
  const { nodeName, nics, object, ready, reason, message } = node;
  const ofNics = nics
    .filter(({ state }) => state !== 'Configured' && state !== 'Observed')
    .map((nic) => {
      const text = textOf(nic.reason || nic.state, nic.message);
      return { name: nic.name, isNode: false, text };
    });
  const check = object?.conditions.find(({ type }) => type === 'Drifted');
  const texts = [
    ...(check?.status === 'Unknown' ? [textOf(check.reason, check.message)] : []),
    ...(ready !== 'True' && !isObserved(node) && ofNics.length === 0
      ? [textOf(reason || `Ready ${ready}`, message)]
      : []),
  ];
  return [...ofNics, ...texts.map((text) => ({ name: nodeName, isNode: true, text }))];
}

function textOf(reason: string | undefined, message: string | undefined): string {
  return [reason, message].filter((part) => part !== undefined && part !== '').join(': ');
}
