/** Shortest and longest interval without a setting. */
const leastMs = 900_000;
const mostMs = 21_600_000;
/** Time between two checks in the whole cluster. */
const perNodeMs = 5_000;

/** Returns the pause between two checks on a node; without a setting (`setMs`) the pause grows with the nodes. */
export function checkIntervalMs(setMs: number | undefined, nodes: number): number {
  return setMs ?? Math.min(mostMs, Math.max(leastMs, perNodeMs * nodes));
}
