import type { Setting } from '../../src/process/settings.ts';
import { maxSleepMs } from '../../src/time/clock.ts';
import { typed } from './setting-form.ts';

export interface DurationBound {
  readonly ms: number;
  /** As a user writes it. */
  readonly text: string;
}

/** Returns the shortest and longest duration that a setting takes, found by its schema; undefined: it is no duration. */
export function durationBounds(
  setting: Setting,
): { readonly least: DurationBound; readonly most: DurationBound } | undefined {
  if (typed(setting).form.kind !== 'duration') return undefined;
  const takes = (ms: number) => setting.schema.safeParse(`${ms}ms`).success;
  // Every duration of ours takes some of these, and what lies between two that it takes.
  const taken = [1, 60_000, 3_600_000, 86_400_000].filter(takes);
  const [first, last] = [taken[0], taken.at(-1)];
  if (first === undefined || last === undefined) throw new Error(`--${setting.flag} takes no time`);
  const least = borderOf(takes, first, -1);
  const most = borderOf(takes, last, 2 * maxSleepMs);
  return { least: boundOf(least), most: boundOf(Math.floor(most / hourMs) * hourMs) };
}

const hourMs = 3_600_000;

/** The last whole number that is taken, on the way from one that is to one that is not. */
function borderOf(takes: (ms: number) => boolean, from: number, to: number): number {
  let [inside, outside] = [from, to];
  while (Math.abs(outside - inside) > 1) {
    const middle = Math.trunc((inside + outside) / 2);
    if (takes(middle)) inside = middle;
    else outside = middle;
  }
  return inside;
}

const units = [
  ['h', hourMs],
  ['m', 60_000],
  ['s', 1_000],
] as const;

function boundOf(ms: number): DurationBound {
  const unit = units.find(([, size]) => ms > 0 && ms % size === 0);
  return { ms, text: unit ? `${ms / unit[1]}${unit[0]}` : `${ms}ms` };
}
