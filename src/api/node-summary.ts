import type { NodeView } from './read-http.ts';

/** Returns a node's reason for attention; empty: nothing is wrong. */
export function attentionOf({ ready, drifted, reason }: NodeView): string {
  return ready === 'True' && !drifted ? '' : reason;
}

/** Counts configured NICs. */
export function configuredNics({ nics }: Pick<NodeView, 'nics'>): number {
  return nics.filter(({ state }) => state === 'Configured').length;
}

/** Returns ports expected among the NICs: not those outside the selected subnets, such as a server's primary port. */
export function expectedPorts({ unusedPorts }: NodeView): NodeView['unusedPorts'] {
  return unusedPorts.filter(
    ({ address, reason }) => address !== undefined || reason !== 'SubnetNotSelected',
  );
}
