/** Share of nodes in the wave. */
const waveShare = 0.1;

/** Returns the number of nodes changed up to and including the wave: the first node, and 10 % of the nodes. */
export function canaryAndWave(total: number): number {
  return 1 + Math.ceil(total * waveShare);
}

/**
 * Returns how many nodes each step changes: the first node, the wave, the rest. `total`: number of nodes of the
 * revision, also those without a change.
 */
export function rolloutSteps(changing: number, total: number): readonly number[] {
  const upTo = [1, canaryAndWave(total), changing].map((size) => Math.min(size, changing));
  return upTo.map((size, step) => size - (upTo[step - 1] ?? 0)).filter((nodes) => nodes > 0);
}
