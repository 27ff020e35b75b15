import type { Clock } from '../../src/time/clock.ts';

/** What the demo shows: one line per thing that happened, with the seconds since the start. */
export interface Screen {
  title(text: string): void;
  step(who: string, what: string): void;
  /** Output of a command, as it is. */
  quote(text: string): void;
  say(text: string): void;
}

export function createScreen(clock: Clock, write: (text: string) => void): Screen {
  const start = clock.monotonicMs();
  const seconds = () => ((clock.monotonicMs() - start) / 1000).toFixed(1).padStart(5);
  return {
    title: (text) => write(`\n${text}\n`),
    step: (who, what) => write(`[${seconds()} s] ${who.padEnd(11)} ${what}\n`),
    quote: (text) => {
      for (const line of text.trimEnd().split('\n')) write(`            | ${line}\n`);
    },
    say: (text) => write(`${text}\n`),
  };
}
