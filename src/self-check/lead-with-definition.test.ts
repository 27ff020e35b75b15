import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { schemaNumbers } from '../api/crd/schema-numbers.ts';
import { annotations } from '../api/names.ts';
import type { KubeClient } from '../kube/client/client.ts';
import { KubeError } from '../kube/errors.ts';
import { createLogger } from '../process/log.ts';
import { createFakeClock } from '../time/fake-clock.ts';
import { leadWithDefinition } from './lead-with-definition.ts';

const definition = 'multinicnodeconfigs.multinic.io';
const current = schemaNumbers[definition];

/** Installed schema number; undefined: no definition is installed; an error: the read fails. */
let installed: number | undefined | Error;
let clock: ReturnType<typeof createFakeClock>;
let stop: AbortController;
let errors: string[];
let isLeading: boolean;

beforeEach(() => {
  [clock, stop, errors, isLeading] = [createFakeClock(), new AbortController(), [], false];
});

afterEach(() => stop.abort(new Error('the test has ended')));

function start(): Promise<void> {
  const find = async () => {
    if (installed instanceof Error) throw installed;
    if (installed === undefined) return undefined;
    const labels = { [annotations.schema]: String(installed) };
    return { metadata: { name: definition, annotations: labels } };
  };
  const client = { find } as unknown as Pick<KubeClient, 'find'>;
  const log = createLogger({
    part: 'test',
    level: 'error',
    destination: { write: (line) => void errors.push((JSON.parse(line) as { msg: string }).msg) },
  });
  const options = { client, definition, clock, random: () => 0.5, log } as const;
  return leadWithDefinition(options, stop.signal, async (end) => {
    isLeading = true;
    await new Promise<void>((resolve) => end.addEventListener('abort', () => resolve()));
    isLeading = false;
  });
}

describe('leadWithDefinition', () => {
  it.each([
    ['an old definition', current - 1],
    ['no definition', undefined],
  ])(
    'leadWithDefinition does not lead with %s, logs this once, and leads after the definition is applied',
    async (_, before) => {
      installed = before;
      const done = start();
      for (let at = 0; at < 5; at++) await clock.advance(30_000);
      expect(isLeading).toBe(false);
      expect(errors).toEqual([expect.stringMatching(/^not leading: CustomResourceDefinition /)]);
      installed = current;
      await clock.advance(30_000);
      expect(isLeading).toBe(true);
      stop.abort(new Error('stopped'));
      await done;
      expect(isLeading).toBe(false);
    },
  );

  it.each([
    ['the right definition', current],
    ['a newer definition', current + 1],
    [
      'no right to read it',
      new KubeError({ message: 'forbidden', status: 403, reason: 'Forbidden' }),
    ],
  ])('leadWithDefinition leads with %s', async (_, before) => {
    installed = before;
    const done = start();
    await clock.advance(0);
    expect(isLeading).toBe(true);
    stop.abort(new Error('stopped'));
    await done;
  });

  it('leadWithDefinition stops leading with an error when an older definition is applied', async () => {
    installed = current;
    const done = start();
    await clock.advance(0);
    installed = current - 1;
    const ended = expect(done).rejects.toThrow('is too old');
    await clock.advance(600_000);
    await ended;
    expect(isLeading).toBe(false);
  });
});
