import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { constants } from 'node:os';

type End = [code: number | null, signal: NodeJS.Signals | null];

/**
 * Runs processes until the first ends or a signal arrives, then ends all. The exit status is the status of the first process; a process
 * killed by a user or the OOM killer counts as failed.
 */
export async function untilOneEnds(children: readonly ChildProcess[]): Promise<number> {
  const stop = (): void => {
    for (const child of children) child.kill('SIGTERM');
  };
  let isWanted = false;
  const end = (): void => {
    isWanted = true;
    stop();
  };
  // The terminal sends Ctrl-C to the children as well; a second signal does them no harm.
  process.once('SIGINT', end).once('SIGTERM', end);
  const ends = children.map((child) => once(child, 'exit'));
  const [code, signal] = (await Promise.race(ends)) as End;
  stop();
  await Promise.all(ends);
  process.off('SIGINT', end).off('SIGTERM', end);
  return signal === null || isWanted ? (code ?? 0) : 128 + constants.signals[signal];
}
