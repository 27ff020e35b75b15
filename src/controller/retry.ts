import { createHash } from 'node:crypto';
import { type Reason, reasons } from '../api/reasons.ts';

/** How soon the agent is sent again after the n-th attempt: first pause, growth, longest pause. */
interface Schedule {
  readonly firstMs: number;
  readonly factor: number;
  readonly longestMs: number;
}

/** A port is plugged seconds after it was attached, or never. */
const untilPlugged: Schedule = { firstMs: 5_000, factor: 1.5, longestMs: 120_000 };
const untilBetter: Schedule = { firstMs: 1_000, factor: 2, longestMs: 300_000 };
/** A person has to change something first, perhaps where nobody tells us; so it is looked at again, but rarely. */
const untilChanged: Schedule = { firstMs: 300_000, factor: 1, longestMs: 300_000 };

/**
 * Milliseconds from the end of the n-th attempt to the next: the shortest pause that one of the reasons asks for. The
 * jitter of ±20 % comes from the run's name, so that a restarted controller waits for the same moment.
 */
export function pauseMs(list: readonly Reason[], attempt: number, runName: string): number {
  const pauses = list.map((reason) => {
    const { firstMs, factor, longestMs } = scheduleOf(reason);
    return Math.min(firstMs * factor ** Math.min(attempt - 1, 40), longestMs);
  });
  const shortest = Math.min(untilChanged.longestMs, ...pauses);
  return Math.round(shortest * (0.8 + 0.4 * fractionOf(runName)));
}

function scheduleOf(reason: Reason): Schedule {
  if (reason === 'WaitingForNIC') return untilPlugged;
  return reasons[reason].retryable ? untilBetter : untilChanged;
}

/** A number in [0, 1) that belongs to the text. */
function fractionOf(text: string): number {
  return createHash('sha256').update(text).digest().readUInt32BE(0) / 2 ** 32;
}
