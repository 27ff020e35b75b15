import { closeSync, openSync } from 'node:fs';
import { constants } from 'node:os';

const everyMs = 1_000;

/**
 * Returns a signal that aborts at Ctrl-C, SIGTERM, SIGHUP, the end of the terminal or of the parent (make). A second
 * signal ends this process at once; the watchdog then removes what is left.
 */
export function stopOnSignals(): AbortSignal {
  const stop = new AbortController();
  const end = (why: string) => stop.abort(new Error(`stopped by ${why}`));
  let signals = 0;
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(name, () => {
      signals += 1;
      if (signals > 1) process.exit(128 + constants.signals[name]);
      end(name);
    });
  }
  // A write to a terminal that is gone fails with EIO, to a closed pipe with EPIPE: unhandled, the error ends this process.
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', () => end('the end of the terminal'));
  }
  // The kernel sends SIGHUP to the leader of the session only; a make that leads the session waits for the demo.
  const parent = process.ppid;
  const onTerminal = process.stdout.isTTY && hasTerminal();
  setInterval(() => {
    if (process.ppid !== parent) end('the end of its parent process');
    if (onTerminal && !hasTerminal()) end('the end of the terminal');
  }, everyMs).unref();
  return stop.signal;
}

function hasTerminal(): boolean {
  try {
    closeSync(openSync('/dev/tty', 'r'));
    return true;
  } catch {
    return false;
  }
}
