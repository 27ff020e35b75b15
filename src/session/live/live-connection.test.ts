import { expect, it, onTestFinished } from 'vitest';
import { createFakeClock, settled } from '../../time/fake-clock.ts';
import { LiveConnection, type Mortal } from './live-connection.ts';

const backoff = { baseMs: 1_000, maxMs: 8_000 };

/** A resource with an end and a check under the test's control. */
class FakeResource implements Mortal {
  readonly #end = Promise.withResolvers<unknown>();
  readonly ended = this.#end.promise;
  isDisposed = false;
  /** Failure of the next checks; undefined: they succeed. */
  failure: Error | undefined;

  end(reason: string): void {
    this.#end.resolve(new Error(reason));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.isDisposed = true;
    await Promise.resolve();
  }
}

/** Starts a connection with one entry per attempt: an error, or undefined for a new resource. */
function startConnection(...attempts: readonly (Error | undefined)[]) {
  const clock = createFakeClock();
  const phases: string[] = [];
  const opened: FakeResource[] = [];
  let at = 0;
  const way = {
    open: () => {
      const error = attempts[at];
      at += 1;
      if (error) return Promise.reject(error);
      const resource = new FakeResource();
      opened.push(resource);
      return Promise.resolve(resource);
    },
    check: ({ failure }: FakeResource) => (failure ? Promise.reject(failure) : Promise.resolve()),
  };
  const onChange = () => void phases.push(connection.state.phase);
  const options = { clock, random: () => 0.5, backoff, onChange };
  const connection: LiveConnection<FakeResource> = new LiveConnection(way, options);
  onTestFinished(() => connection[Symbol.asyncDispose]());
  return { clock, connection, opened, phases, attempts: () => at };
}

it('a connection opens on first use', async () => {
  const { connection, attempts } = startConnection();
  await settled();
  expect([connection.state.phase, attempts()]).toEqual(['unused', 0]);
  await Promise.all([connection.value(), connection.value()]);
  expect([connection.state.phase, attempts()]).toEqual(['open', 1]);
});

it('a failed connect rejects readers, counts as lost since the first failure, and opens by a retry', async () => {
  const { clock, connection, phases } = startConnection(new Error('first'), new Error('second'));
  const started = clock.now();
  await expect(connection.value()).rejects.toThrow('first');
  await clock.advance(1_000);
  await expect(connection.value()).rejects.toThrow('second');
  expect(connection.state).toMatchObject({ phase: 'lost', since: started });
  await clock.advance(2_000);
  await connection.value();
  expect(phases).toEqual(['connecting', 'lost', 'lost', 'open']);
});

it.each([
  ['ends', (resource: FakeResource) => resource.end('gone')],
  [
    'fails the check',
    (resource: FakeResource, connection: LiveConnection<FakeResource>) => {
      resource.failure = new Error('gone');
      connection.doubt();
    },
  ],
] as const)('readers get the next resource when the first one %s', async (_, lose) => {
  const { clock, connection, opened } = startConnection();
  const first = await connection.value();
  lose(first, connection);
  await settled();
  expect(connection.state).toMatchObject({ phase: 'lost', error: new Error('gone') });
  expect(first.isDisposed).toBe(true);
  const next = connection.value();
  await clock.advance(1_000);
  expect(await next).toBe(opened[1]);
});

it('a resource stays open when the check passes', async () => {
  const { connection, phases } = startConnection();
  const resource = await connection.value();
  connection.doubt();
  await settled();
  expect(await connection.value()).toBe(resource);
  expect(phases).toEqual(['connecting', 'open']);
});

it.each([
  ['soon after each start waits longer each time', 0, [1_000, 2_000, 4_000, 8_000, 8_000]],
  ['after a long time starts again at the first delay', 8_000, [1_000, 1_000, 1_000]],
] as const)('a connection with a break %s', async (_, openMs, delays) => {
  const { clock, connection, opened } = startConnection();
  await connection.value();
  const waits: number[] = [];
  for (const [at] of delays.entries()) {
    await clock.advance(openMs);
    opened[at]?.end('gone');
    await settled();
    const [wait = 0] = clock.waits;
    waits.push(wait);
    await clock.advance(wait);
  }
  expect(waits).toEqual(delays);
});

it('close during a connect ends the attempt and rejects readers', async () => {
  const clock = createFakeClock();
  const signals: AbortSignal[] = [];
  const late = Promise.withResolvers<FakeResource>();
  const way = {
    open: (signal: AbortSignal) => {
      signals.push(signal);
      return late.promise;
    },
    check: () => Promise.resolve(),
  };
  const options = { clock, random: () => 0.5, backoff, onChange: () => undefined };
  const connection = new LiveConnection(way, options);
  const reader = connection.value().catch((error: Error) => error.message);
  const closed = connection[Symbol.asyncDispose]();
  expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
  expect(await reader).toBe('the connection is closed');
  const resource = new FakeResource();
  late.resolve(resource);
  await closed;
  expect(resource.isDisposed).toBe(true);
  await expect(connection.value()).rejects.toThrow('the connection is closed');
});

it('close ends an open resource and the wait for a retry', async () => {
  const open = startConnection();
  const resource = await open.connection.value();
  await open.connection[Symbol.asyncDispose]();
  expect(resource.isDisposed).toBe(true);
  const failing = startConnection(new Error('first'));
  await expect(failing.connection.value()).rejects.toThrow('first');
  await failing.connection[Symbol.asyncDispose]();
  expect([failing.attempts(), failing.clock.waits]).toEqual([1, []]);
});
