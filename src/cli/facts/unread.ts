import type { Fact, FactSource } from '../../explain/fact.ts';
import { AccessError } from '../../kube/access/access-error.ts';
import { KubeError } from '../../kube/errors.ts';
import { ApiError } from '../access/operator-api.ts';

/** Error: a fact cannot be read; `next` is the user's next step. */
export class Unread extends Error {
  readonly next: string;
  constructor(why: string, next: string) {
    super(why);
    this.name = 'Unread';
    this.next = next;
  }
}

export interface FactAbout {
  /** Name of the fact, such as "Nodes of biz-2". */
  readonly what: string;
  readonly source: FactSource;
  /** Command that grants the missing right to a user. */
  readonly grant: (user: string) => string;
  readonly now: Date;
}

/** Reads a fact. A failure is part of the fact, so that a command shows everything else. */
export async function factOf<T>(about: FactAbout, read: () => Promise<T>): Promise<Fact<T>> {
  try {
    return {
      state: 'read',
      value: await read(),
      source: about.source,
      at: about.now.toISOString(),
    };
  } catch (error) {
    const { why, next } = explained(error, about.grant);
    return { state: 'unread', missing: `${about.what}: ${why}`, next };
  }
}

/** Returns the cause and the next step for a failed read. Rethrows errors of this program. */
export function explained(
  error: unknown,
  grant: (user: string) => string,
): { readonly why: string; readonly next: string } {
  if (error instanceof Unread || error instanceof AccessError) {
    return { why: error.message, next: error.next };
  }
  if (error instanceof KubeError) return ofKube(error, grant);
  if (error instanceof ApiError) return ofApi(error);
  throw error;
}

/** kubectl connects to this address without a kubeconfig. */
const kubectlDefault = /dial tcp (127\.0\.0\.1|\[::1\]):8080:/;

function ofKube(error: KubeError, grant: (user: string) => string) {
  const { status, message, reason } = error;
  if (status === 403) return { why: 'no access (403)', next: grant(userIn(message)) };
  if (status === 401) {
    return { why: 'the credentials are not accepted (401)', next: 'log in to the cluster again' };
  }
  if (status === 404) {
    return {
      why: 'the cluster does not serve this kind (404)',
      next: 'check the context with --context; if it is right, install the CRDs of MultiNIC',
    };
  }
  if (kubectlDefault.test(message)) {
    return {
      why: 'no kubeconfig, or none with a current context: kubectl connects to localhost:8080',
      next: 'log in to the cluster with its own tool, or give --kubeconfig PATH or --context NAME',
    };
  }
  return {
    // kubectl proxy ends the cause of an unreachable server with a line break.
    why: `${reason}: ${message.replaceAll(/\s+/g, ' ')}`,
    next: 'check that the API server is reachable, and try again',
  };
}

/** Returns the user's name from the API server's message; else a placeholder. */
function userIn(message: string): string {
  return /User "([^"]+)"/.exec(message)?.[1] ?? 'USER';
}

function ofApi(error: ApiError) {
  const { status, reason, message } = error;
  if (error.isMissingRoute) {
    return {
      why: 'this operator is older and lacks the route',
      next: 'upgrade the operator, see docs/guides/upgrade.md',
    };
  }
  if (status === 401 || status === 403) {
    return {
      why: `not allowed (${status}): ${message}`,
      next: 'use a token with the verb for this route: --token-file FILE',
    };
  }
  if (reason === 'NotLeading') {
    return { why: message, next: 'wait until a replica leads (15 s), and try again' };
  }
  return { why: message, next: "see the operator's log, and try again" };
}
