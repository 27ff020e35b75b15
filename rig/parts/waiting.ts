import { readFile } from 'node:fs/promises';
import { get } from 'node:https';
import type { Clock } from '../../src/time/clock.ts';

export interface WaitOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly limitMs?: number;
  readonly pollMs?: number;
}

/** Polls until `look` answers something; throws a sentence that names what was waited for after the limit. */
export async function waitFor<T>(
  what: string,
  look: () => Promise<T | undefined>,
  { clock, signal, limitMs = 120_000, pollMs = 100 }: WaitOptions,
): Promise<T> {
  const end = clock.monotonicMs() + limitMs;
  let last: unknown;
  while (clock.monotonicMs() < end) {
    signal.throwIfAborted();
    try {
      const found = await look();
      if (found !== undefined) return found;
    } catch (error) {
      last = error;
    }
    await clock.sleep(pollMs, signal);
  }
  throw new Error(`${what} did not happen within ${limitMs / 1000} s`, { cause: last });
}

/** Waits until a server answers by TLS with a certificate of the authorities in a file, which may not be there yet. */
export async function answersByTls(
  url: string,
  caFile: string,
  options: WaitOptions,
): Promise<void> {
  await waitFor(
    `an answer from ${url}`,
    async () => {
      const ca = await readFile(caFile, 'utf8');
      return (await statusByTls(url, ca)) < 500 ? true : undefined;
    },
    options,
  );
}

async function statusByTls(url: string, ca: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const asked = get(url, { ca, agent: false, timeout: 2000 }, (answer) => {
      answer.resume();
      resolve(answer.statusCode ?? 0);
    });
    asked.on('timeout', () => asked.destroy(new Error('no answer')));
    asked.on('error', reject);
  });
}

/** Waits until a URL answers with any status below 500. */
export async function answers(url: string, options: WaitOptions): Promise<void> {
  await waitFor(
    `an answer from ${url}`,
    async () => {
      const { status } = await fetch(url, { signal: AbortSignal.timeout(2000) });
      return status < 500 ? true : undefined;
    },
    options,
  );
}
