import type { KubeClient } from './client.ts';

const writes = ['create', 'patch', 'apply', 'delete'] as const;

type Write = (...args: readonly unknown[]) => Promise<unknown>;

/** Returns the client with `around` called for each write: parts use this to name writes made by src/kube. */
export function aroundWrites(
  client: KubeClient,
  around: (write: () => Promise<unknown>) => Promise<unknown>,
): KubeClient {
  return new Proxy(client, {
    get(target, key) {
      const member: unknown = Reflect.get(target, key, target);
      if (typeof member !== 'function') return member;
      const call = (member as Write).bind(target);
      if (!writes.some((name) => name === key)) return call;
      return (...args: unknown[]) => around(() => call(...args));
    },
  });
}
