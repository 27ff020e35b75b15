import type { Setting } from '../../src/process/settings.ts';
import { maxSleepMs } from '../../src/time/clock.ts';
import { typed } from './setting-form.ts';

export interface DurationBound {
  readonly ms: number;
  /** Duration in user notation, such as `15s`. */
  readonly text: string;
}

/** Returns the shortest and longest duration that the setting's schema accepts; undefined: no duration. */
export function durationBounds(
  setting: Setting,
): { readonly least: DurationBound; readonly most: DurationBound } | undefined {
  if (typed(setting).form.kind !== 'duration') return undefined;
  const takes = (ms: number) => setting.schema.safeParse(`${ms}ms`).success;
  // Every duration schema accepts at least a value of these, and all values between two accepted values.
  const taken = [1, 60_000, 3_600_000, 86_400_000].filter(takes);
  const [first, last] = [taken[0], taken.at(-1)];
  if (first === undefined || last === undefined) throw new Error(`--${setting.flag} takes no time`);
  const least = borderOf(takes, first, -1);
  const most = borderOf(takes, last, 2 * maxSleepMs);
  return { least: boundOf(least), most: boundOf(Math.floor(most / hourMs) * hourMs) };
}

const hourMs = 3_600_000;

/** Returns the last accepted whole number between an accepted and a refused number. */
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
