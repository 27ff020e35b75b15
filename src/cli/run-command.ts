import type { AccessOptions } from '../session/access/options.ts';
import { Session } from '../session/access/session.ts';
import { errorInContext } from '../session/in-context.ts';
import { endOnClosedPipe } from './output/print.ts';
import { type Progress, startProgress } from './output/progress.ts';

/** Error: the user pressed Ctrl-C, or the process was terminated. */
export class Interrupted extends Error {
  constructor() {
    super('interrupted');
    this.name = 'Interrupted';
  }
}

/** What an action works with. */
export interface Run {
  readonly session: Session;
  readonly progress: Progress;
}

/** Runs an action with connections that end together with it, also after Ctrl-C. */
export async function withSession<T>(
  options: AccessOptions,
  action: (run: Run) => Promise<T>,
): Promise<T> {
  endOnClosedPipe();
  const interrupt = new AbortController();
  const stop = () => interrupt.abort(new Interrupted());
  for (const name of signals) process.once(name, stop);
  using progress = startProgress();
  try {
    await using session = new Session(options, interrupt.signal);
    progress.show('reading …');
    return await action({ session, progress });
  } catch (error) {
    if (interrupt.signal.aborted) throw interrupt.signal.reason;
    throw errorInContext(error, options);
  } finally {
    for (const name of signals) process.off(name, stop);
  }
}

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
