/** Delay before the first line: short commands show no progress (ms). */
const quietMs = 1_000;

/** Shows what a command waits for, on standard error. */
export interface Progress extends Disposable {
  show(text: string): void;
}

/** Starts to report progress: a line per changed text, at most each second. */
export function startProgress(write: (line: string) => void = defaultWrite): Progress {
  let latest = '';
  let shown = '';
  const timer = setInterval(() => {
    if (latest !== shown) write(latest);
    shown = latest;
  }, quietMs);
  timer.unref();
  return {
    show(text) {
      latest = text;
    },
    [Symbol.dispose]: () => clearInterval(timer),
  };
}

function defaultWrite(line: string): void {
  console.error(line);
}
