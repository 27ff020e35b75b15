import type { KubeClient } from '../../kube/client/client.ts';
import type { SourceLimit } from './source-limit.ts';

/** Returns a client with a limit per call, including retries and all list pages; watches have no limit. */
export function boundedClient(client: KubeClient, limit: SourceLimit): KubeClient {
  return new Proxy(client, {
    get(target, key) {
      const member: unknown = Reflect.get(target, key);
      if (typeof member !== 'function' || typeof key === 'symbol' || key === 'watch') return member;
      return (...argv: readonly unknown[]) =>
        limit.call(() => Reflect.apply(member, target, argv) as Promise<unknown>);
    },
  });
}
