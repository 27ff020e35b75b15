/** Share of nodes in the wave. */
const waveShare = 0.1;

/** Returns the node count up to and including the wave: first node and 10 % share. */
export function canaryAndWave(total: number): number {
  return 1 + Math.ceil(total * waveShare);
}

/**
 * Returns the node count per step: first node, wave, rest. `total`: all nodes in the revision, also without a
 * change.
 */
export function rolloutSteps(changing: number, total: number): readonly number[] {
  const upTo = [1, canaryAndWave(total), changing].map((size) => Math.min(size, changing));
  return upTo.map((size, step) => size - (upTo[step - 1] ?? 0)).filter((nodes) => nodes > 0);
}
