import { readFile } from 'node:fs/promises';
import { accessTexts } from '../../api/texts/access.ts';
import { filled } from '../../api/texts/text.ts';
import { DeadlineReached } from '../../time/deadline.ts';
import { type ChildLimit, NoSuchProgram } from './child.ts';
import { requiredChoice } from './cluster-tunnel.ts';
import { grantReader, requestTo } from './grants.ts';
import { type Tunnel, tunnels } from './kubectl.ts';
import { OperatorApi } from './operator-api.ts';
import { holderOf, type OperatorHome, valueOf } from './operator-home.ts';
import type { AccessOptions } from './options.ts';
import { requiredSource, SourceError } from './sources.ts';
import { Unread } from './unread.ts';

/** The operator's API port in its Pod. */
const apiPort = 18_081;

/** The operator's API with its port-forward, if any. */
export type OperatorTunnel = Tunnel<{ readonly api: OperatorApi }>;

/** Way to the operator's leader. */
export interface OperatorSearch {
  readonly limit: ChildLimit;
  /** Finds the operator in the management cluster. */
  readonly home: () => Promise<OperatorHome>;
  /** Takes the API's place for messages, such as "port-forward multinic-system/operator-0". */
  readonly onPlace: (place: string) => void;
}

/**
 * Opens the API at the operator's leader, or at --inventory. Throws Unread with the user's next step, SourceError
 * if the management cluster failed, DeadlineReached at the limit.
 */
export async function openOperator(
  options: AccessOptions,
  search: OperatorSearch,
): Promise<OperatorTunnel> {
  const { inventory, tokenFile } = options;
  if (inventory !== undefined) {
    const token = tokenFile === undefined ? undefined : () => readToken(tokenFile);
    const api = new OperatorApi({ url: inventory, token, verifiesTls: true }, search.limit);
    const ended = new Promise<never>(() => undefined);
    return { api, ended, [Symbol.asyncDispose]: () => api[Symbol.asyncDispose]() };
  }
  const { home, pod } = await leaderOf(options, search);
  search.onPlace(`port-forward ${home.namespace}/${pod}`);
  const forward = await forwardTo(options, { home, pod, limit: search.limit });
  const url = `http://127.0.0.1:${forward.localPort}`;
  const api = new OperatorApi({ url, verifiesTls: false }, search.limit);
  return {
    api,
    ended: forward.ended.then(endedForward),
    async [Symbol.asyncDispose]() {
      await api[Symbol.asyncDispose]();
      await forward[Symbol.asyncDispose]();
    },
  };
}

/** Returns the leading Pod, or the Lease's holder outside the cluster. */
async function leaderOf(options: AccessOptions, { home: find, limit, onPlace }: OperatorSearch) {
  const { home, lease } = await leaseOf(options, { find, limit });
  onPlace(`namespace ${home.namespace}`);
  return { home, pod: holderOf(home, lease, limit.clock.now()) };
}

/** Reads the Lease; SourceError: the management API failed. */
async function leaseOf(
  options: AccessOptions,
  { find, limit }: { readonly find: OperatorSearch['home']; readonly limit: ChildLimit },
) {
  try {
    const home = await find();
    return { home, lease: valueOf(home.lease) };
  } catch (error) {
    const query = { source: 'management cluster', provider: undefined, operatorPlace: '' } as const;
    const required = requiredSource(options, query);
    if (limit.signal.aborted || !required) throw error;
    throw new SourceError(required, error);
  }
}

interface ForwardTarget {
  readonly home: OperatorHome;
  readonly pod: string;
  readonly limit: ChildLimit;
}

async function forwardTo(options: AccessOptions, target: ForwardTarget) {
  const { home, pod, limit } = target;
  const choice = requiredChoice(options, undefined);
  try {
    const { namespace } = home;
    return await tunnels.startPortForward(choice, { namespace, pod, port: apiPort }, limit);
  } catch (error) {
    throw failedForward(error, target);
  }
}

function failedForward(error: unknown, { home, pod, limit }: ForwardTarget): unknown {
  const { namespace, installed } = home;
  if (error instanceof NoSuchProgram) {
    return new Unread(accessTexts.needsKubectl, accessTexts.installKubectl);
  }
  const isFinal = error instanceof DeadlineReached || limit.signal.aborted;
  if (isFinal || !(error instanceof Error)) return error;
  if (installed === 'Process') {
    const why = filled(accessTexts.operatorIsProcess, { namespace, holder: pod });
    return new Unread(why, accessTexts.giveInventory);
  }
  if (/forbidden/i.test(error.message)) {
    const next = requestTo(grantReader(namespace), error.message);
    return new Unread(accessTexts.forwardForbidden, next);
  }
  return endedForward(error);
}

function endedForward({ message }: Error): Unread {
  return new Unread(filled(accessTexts.forwardFailed, { message }), accessTexts.tryAgain);
}

async function readToken(path: string): Promise<string> {
  try {
    return (await readFile(path, 'utf8')).trim();
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Unread(filled(accessTexts.tokenUnreadable, { why }), accessTexts.giveTokenFile);
  }
}
