import { createHash } from 'node:crypto';

/** Milliseconds that the work below takes on an idle core of a cloud VM of 2024. */
const idleMs = 40;

/** Environment variable with the factor, so that every process of one run uses the same. */
const variable = 'MULTINIC_TEST_SLOWNESS';

/**
 * How many times slower this machine is than an idle one (1 or more), measured once at the start of a run. A busy machine
 * counts as slow: two other processes for each core make it about 3.
 */
export const slowness = Number((process.env[variable] ??= String(measured())));

/** Returns a limit for the speed of this machine; both in milliseconds. */
export function scaled(milliseconds: number): number {
  return Math.round(milliseconds * slowness);
}

function measured(): number {
  const started = performance.now();
  let digest = Buffer.alloc(1 << 20);
  for (let round = 0; round < 40; round += 1) {
    digest = Buffer.concat([createHash('sha256').update(digest).digest(), digest.subarray(32)]);
  }
  const factor = (performance.now() - started) / idleMs;
  return Math.round(Math.max(1, Math.min(factor, 10)) * 10) / 10;
}
