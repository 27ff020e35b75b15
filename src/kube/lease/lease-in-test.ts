import type { FakeClock } from '../../time/fake-clock.ts';
import type { KubeClient } from '../client/client.ts';
import type { Lease } from '../core-resources.ts';
import { KubeError } from '../errors.ts';
import type { KubeObject } from '../object.ts';
import { runWithLease } from './lease.ts';

export type LeaseClient = Pick<KubeClient, 'find' | 'create' | 'patch'>;
type Spec = NonNullable<Lease['spec']>;

const refusal = (status: number, reason: string): KubeError =>
  new KubeError({ status, reason, message: reason });

/** A Lease with the API server's conflict rules; each client can lose its connection or its answers. */
export class LeaseServer {
  lease: Lease | undefined;
  writes = 0;
  #version = 0;

  clientOf(
    faultOf: () => 'none' | 'cut' | 'lostAnswer' = () => 'none',
    takes: () => Promise<void> = () => Promise.resolve(),
  ): LeaseClient {
    const respond = async <T>(act: () => T): Promise<T> => {
      const kind = faultOf();
      await takes();
      if (kind === 'cut') throw refusal(0, 'Unreachable');
      const result = act();
      if (kind === 'lostAnswer') throw refusal(0, 'Unreachable');
      return result;
    };
    return {
      find: () => respond(() => this.lease),
      create: (_: unknown, { metadata, spec }: KubeObject & { spec: Spec }) =>
        respond(() => {
          if (this.lease) throw refusal(409, 'AlreadyExists');
          return this.#store(metadata.name, spec);
        }),
      patch: (_: unknown, ref: { name: string }, patch: KubeObject & { spec: Spec }) =>
        respond(() => {
          if (!this.lease) throw refusal(404, 'NotFound');
          if (patch.metadata.resourceVersion !== this.lease.metadata.resourceVersion) {
            throw refusal(409, 'Conflict');
          }
          return this.#store(ref.name, { ...this.lease.spec, ...patch.spec });
        }),
    } as unknown as LeaseClient;
  }

  /** Edits the lease like a kubectl user. */
  edit(change: Spec): void {
    if (this.lease) this.#store(this.lease.metadata.name, { ...this.lease.spec, ...change });
  }

  #store(name: string, spec: Spec): Lease {
    this.writes++;
    this.lease = { metadata: { name, resourceVersion: String(++this.#version) }, spec };
    return this.lease;
  }
}

/** Runs a candidate whose work lasts until its signal aborts. */
export function candidate(client: LeaseClient, clock: FakeClock, identity = 'me', stopMs = 0) {
  const stop = new AbortController();
  const log: string[] = [];
  let leading = false;
  const running = runWithLease(
    {
      client,
      namespace: 'ns',
      name: 'leader',
      identity,
      clock,
      random: () => 0.5,
      onChange: (state, error) =>
        log.push(error instanceof Error ? `${state} (${error.message})` : state),
      onOverrun: ({ message }) => log.push(message),
    },
    stop.signal,
    async (signal) => {
      leading = true;
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
      log.push(`aborted: ${String(signal.reason)}`);
      if (stopMs > 0) await clock.sleep(stopMs);
      leading = false;
    },
  );
  return { stop, log, running, isLeading: () => leading };
}
