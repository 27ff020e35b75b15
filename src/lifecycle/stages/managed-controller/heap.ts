import { parseQuantity } from '../../model/quantity.ts';

const nanoPerMebibyte = 1024n * 1024n * 1_000_000_000n;
/** Maximum old space accepted by the chart. */
const largestOld = 8192;
const oldFlag = /^--max-old-space-size=\d+$/;
const youngFlag = /^--max-semi-space-size=(\d+)$/;

/**
 * Returns the command with an old space fitting the memory limit, by the chart's rule: 64 MB outside the heap, factor
 * 1.25 for V8 overhead, three semi-spaces.
 */
export function commandWithin(command: readonly string[], memory: string): string[] {
  const limit = parseQuantity(memory);
  if (!limit) return [...command];
  const young = command.map((word) => youngFlag.exec(word)?.[1]).find((one) => one !== undefined);
  const mebibytes = Number(limit.nano / nanoPerMebibyte);
  const old = Math.floor((mebibytes - 64 - 3 * Number(young ?? 0)) / 1.25);
  const flag = `--max-old-space-size=${Math.max(1, Math.min(old, largestOld))}`;
  return command.map((word) => (oldFlag.test(word) ? flag : word));
}
