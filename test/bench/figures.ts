import { appendFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';

/** What one bench measured, printed as rows of a table; with a goal it says whether that was met. */
export class Figures {
  #missed = 0;

  /** A figure that must be at most `goal`. */
  goal(name: string, value: number, goal: number, unit: string): void {
    const met = value <= goal;
    if (!met) this.#missed += 1;
    this.#row(name, `${round(value)} ${unit}`, `≤ ${goal} ${unit}`, met ? 'met' : 'MISSED');
  }

  /** A figure that stands beside the others. */
  note(name: string, value: string): void {
    this.#row(name, value, '', '');
  }

  /** Makes the process fail when a goal was missed. */
  end(): void {
    if (this.#missed > 0) process.exitCode = 1;
  }

  #row(...cells: string[]): void {
    const row = `| ${cells.join(' | ')} |`;
    console.log(row);
    const path = process.env['BENCH_TABLE'];
    if (path !== undefined) appendFileSync(path, `${row}\n`);
  }
}

/** Two digits are more than two runs have in common. */
function round(value: number): number {
  return Number.isInteger(value) ? value : Number(value.toFixed(2));
}

export interface Memory {
  readonly rssMb: number;
  readonly peakMb: number;
}

/** What a process has of memory now, and had at most. */
export async function rssOf(pid: number): Promise<Memory> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  const megabytes = (field: string) =>
    Math.round(Number(new RegExp(`${field}:\\s+(\\d+)`).exec(status)?.[1]) / 1024);
  return { rssMb: megabytes('VmRSS'), peakMb: megabytes('VmHWM') };
}

/** CPU seconds that a process has used so far. */
export async function cpuOf(pid: number): Promise<number> {
  // The name of the program, in parentheses, may have spaces; fields count from behind it.
  const fields = (await readFile(`/proc/${pid}/stat`, 'utf8')).split(') ').at(-1)?.split(' ') ?? [];
  const ticksPerSecond = 100;
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
}

export function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}
