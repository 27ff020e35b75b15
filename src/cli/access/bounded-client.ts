import type { KubeClient } from '../../kube/client/client.ts';
import { type Limit, withDeadline } from '../../time/deadline.ts';

/** Returns a client whose calls end at the limit, including retries and all pages of a list; watches have no limit. */
export function boundedClient(client: KubeClient, limit: Limit): KubeClient {
  return new Proxy(client, {
    get(target, key) {
      const member: unknown = Reflect.get(target, key);
      if (typeof member !== 'function' || typeof key === 'symbol' || key === 'watch') return member;
      return (...argv: readonly unknown[]) =>
        withDeadline(limit, () => Reflect.apply(member, target, argv) as Promise<unknown>);
    },
  });
}
