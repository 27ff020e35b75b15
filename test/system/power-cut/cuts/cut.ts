import { setTimeout as sleep } from 'node:timers/promises';
import { type CutGuest, tracePort } from '../../../../rig/hosts/guest/guest.ts';
import type { JobRequest } from '../../../../src/api/job.ts';
import { agentWords, type GuestHost } from '../guest-host.ts';

/** Disk after a power cut at a moment in the agent's run. */
export interface Cut {
  readonly moment: string;
  readonly disk: CutGuest;
  /** True if the agent had reported success before the cut. */
  readonly isAfterEnd: boolean;
}

/** System calls with which the agent flushes data to disk, or changes names. */
const calls = 'fsync,fdatasync,rename,renameat,renameat2,unlink,unlinkat,link,linkat';
const begun = new RegExp(`\\b(?:${calls.replaceAll(',', '|')})\\([^\n]*`, 'g');

/**
 * Cuts before each system call of the agent (paused by strace), and after the end. The kernel writes no unsynced data back by chance: the
 * writeback interval is minutes.
 */
export async function cutsAtCalls(host: GuestHost, asked: JobRequest): Promise<Cut[]> {
  await host.sh('mount', '-o', 'remount,commit=300,noauto_da_alloc', '/');
  await host.sh(
    'sh',
    '-c',
    'for each in expire writeback; do echo 60000 > /proc/sys/vm/dirty_${each}_centisecs; done',
  );
  await host.ask(asked);
  const cuts: Cut[] = [];
  let ended = 0;
  let taking: Promise<void> = Promise.resolve();
  const take = async (moment: string, isAfterEnd = false) => {
    const before = ended;
    const disk = await host.guest.cutCopy(() => ended === before);
    cuts.push({ moment, disk, isAfterEnd });
  };
  using _ = await host.guest.trace((text) => {
    for (const [call] of text.matchAll(begun)) taking = taking.then(() => take(call));
    if (/ = -?\d/.test(text)) ended += 1;
  });
  const held = ['-e', `trace=${calls}`, '-e', `inject=${calls}:delay_enter=${holdUs}`];
  const strace = ['strace', '-f', '-y', '-s', '200', '-o', tracePort, '-e', 'signal=none'];
  const run = await host.exec('env', 'UV_THREADPOOL_SIZE=1', ...strace, ...held, ...agentWords);
  await taking;
  if (run.code !== 0) throw new Error(`the agent under strace: ${run.stderr}`);
  await take('the end', true);
  return cuts;
}

/** A busy machine needs time for the copy. */
const holdUs = 2_000_000;

/** A kernel writes by itself what has been changed five seconds ago. */
const writtenMs = 6000;

/** Cuts at random moments during an agent run of this duration, and during later writes of the host. */
export async function cutsAtRandom(
  host: GuestHost,
  asked: JobRequest,
  { count, runMs }: { readonly count: number; readonly runMs: number },
): Promise<Cut[]> {
  await host.ask(asked);
  let isAfterEnd = false;
  const run = host.exec(...agentWords).then(({ code, stderr }) => {
    if (code !== 0) throw new Error(`the agent: ${stderr}`);
    isAfterEnd = true;
  });
  const cuts: Cut[] = [];
  const start = performance.now();
  while (cuts.length < count) {
    await sleep(Math.random() * 2 * ((runMs + writtenMs) / count));
    const moment = `${Math.round(performance.now() - start)} ms`;
    const wasAfterEnd = isAfterEnd;
    cuts.push({ moment, disk: await host.guest.cutCopy(), isAfterEnd: wasAfterEnd });
  }
  await run;
  return cuts;
}
