import { metricTable } from '../../src/api/metrics.ts';
import { createHealth } from '../../src/process/health.ts';
import { createLogger } from '../../src/process/log.ts';
import { createMetrics } from '../../src/process/metrics.ts';
import type { OwnPod } from '../../src/process/part.ts';
import { readSettings } from '../../src/process/settings.ts';
import { systemClock, systemRandom } from '../../src/time/clock.ts';
import { violaSettings } from '../../src/viola/settings.ts';
import { startViola } from '../../src/viola/start.ts';
import { about } from './about.ts';

export interface Line {
  readonly msg: string;
  readonly level: string;
  readonly url?: string;
  readonly caller?: string;
  readonly status?: number;
}

export interface RunningViola extends AsyncDisposable {
  readonly lines: readonly Line[];
  /** Where it serves, as the line of its log says that has this in it. */
  url(said: string): string;
  metrics(): Promise<string>;
}

/** Viola as main runs it, until it is disposed of; resolves when it serves, rejects when it does not start. */
export async function runViola(
  flags: Readonly<Record<string, string>>,
  pod?: OwnPod,
): Promise<RunningViola> {
  const lines: Line[] = [];
  const serves = Promise.withResolvers<void>();
  const stop = new AbortController();
  const metrics = createMetrics(metricTable);
  const write = (text: string): void => {
    const line = JSON.parse(text) as Line;
    lines.push(line);
    if (line.msg === 'viola serves') serves.resolve();
  };
  const done = startViola(
    readSettings(violaSettings, { env: {}, flags: { listen: '127.0.0.1:0', ...flags } }),
    {
      clock: systemClock,
      random: systemRandom,
      log: createLogger({ part: 'viola', level: 'debug', destination: { write } }),
      metrics,
      health: createHealth(),
      about,
      pod,
      exit: () => undefined,
    },
    stop.signal,
  );
  await Promise.race([serves.promise, done]);
  return {
    lines,
    url(said) {
      const { url } =
        lines.find(({ msg, url: at }) => at !== undefined && msg.includes(said)) ?? {};
      if (url === undefined) throw new Error(`nothing was said of ${said}`);
      return url;
    },
    metrics: async () => metrics.registry.metrics(),
    async [Symbol.asyncDispose]() {
      stop.abort(new Error('stop'));
      await done;
    },
  };
}
