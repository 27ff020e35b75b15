import { createInterface } from 'node:readline';
import { print } from '../output/print.ts';
import { openInBrowser } from './browser.ts';

/** The user's terminal and browser. */
export interface Terminal {
  readonly print: (text: string) => void;
  /** False: no user can press Enter. */
  readonly hasEnter: boolean;
  /** Calls back at each Enter until the signal aborts. */
  readonly onEnter: (callback: () => void, signal: AbortSignal) => void;
  /** Opens a link in the browser. Resolves to false if this machine has none. */
  readonly open: (link: string, signal: AbortSignal) => Promise<boolean>;
}

export function userTerminal(): Terminal {
  const hasEnter = process.stdin.isTTY;
  return {
    print,
    hasEnter,
    onEnter: (callback, signal) => {
      if (!hasEnter || signal.aborted) return;
      // Without `output` the terminal stays in its usual mode, in which Ctrl-C sends SIGINT.
      const lines = createInterface({ input: process.stdin });
      lines.on('line', callback);
      signal.addEventListener('abort', () => lines.close(), { once: true });
    },
    open: (link, signal) => openInBrowser(link, { env: process.env, signal }),
  };
}
