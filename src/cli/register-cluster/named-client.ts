import type { KubeClient } from '../../kube/client/client.ts';
import { KubeError } from '../../kube/errors.ts';
import { Failure } from '../../session/access/failure.ts';
import { plainMessage } from '../../session/facts/kube-cause.ts';
import { DeadlineReached } from '../../time/deadline.ts';

/** A cluster of the registration, as messages name the cluster. */
export interface NamedCluster {
  readonly name: 'business' | 'management';
  readonly server: string;
}

/** Returns a client whose errors name the cluster that gave no answer. */
export function namedClient(client: KubeClient, cluster: NamedCluster): KubeClient {
  return new Proxy(client, {
    get(target, key) {
      const member: unknown = Reflect.get(target, key);
      if (typeof member !== 'function' || typeof key === 'symbol' || key === 'watch') return member;
      return async (...argv: readonly unknown[]) => {
        try {
          return await (Reflect.apply(member, target, argv) as Promise<unknown>);
        } catch (error) {
          throw withName(error, cluster);
        }
      };
    },
  });
}

/** The command has no option for a longer wait. */
function withName(error: unknown, { name, server }: NamedCluster): unknown {
  if (!(error instanceof KubeError) || error.status !== 0) return error;
  const { cause } = error;
  const why = cause instanceof DeadlineReached ? cause.message : plainMessage(error);
  return new Failure(
    `the ${name} cluster (${server}) does not answer: ${why}`,
    `check the connection to ${server}`,
  );
}
