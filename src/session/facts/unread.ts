import { accessTexts } from '../../api/texts/access.ts';
import { filled, type Wording } from '../../api/texts/text.ts';
import type { Fact, FactSource, RequiredSource } from '../../explain/fact.ts';
import { same } from '../../explain/wording.ts';
import { AccessError } from '../../kube/access/access-error.ts';
import { KubeError } from '../../kube/errors.ts';
import { DeadlineReached } from '../../time/deadline.ts';
import { ApiError } from '../access/api-error.ts';
import type { Grant } from '../access/grants.ts';
import type { Session } from '../access/session.ts';
import { SourceError } from '../access/sources.ts';
import { Unread } from '../access/unread.ts';
import { type Explained, ofKube, type ReadContext } from './kube-cause.ts';

export interface FactAbout {
  /** Name of the fact, such as "Nodes of biz-2". */
  readonly what: Wording;
  readonly source: FactSource;
  /** The fact's business cluster. */
  readonly provider?: string;
  /** True: no command needs the fact for a complete answer. */
  readonly isOptional?: boolean;
  /** Command that grants the missing right to a user. */
  readonly grant: Grant;
}

/**
 * Reads a fact. A failure becomes part of the fact: a command shows all other facts. An unread fact names its required
 * source.
 */
export async function factOf<T>(
  session: Session,
  { what, source, provider, isOptional = false, grant }: FactAbout,
  read: () => Promise<T>,
): Promise<Fact<T>> {
  const at = session.now().toISOString();
  try {
    return { state: 'read', value: await read(), source, at };
  } catch (error) {
    const required = isOptional ? undefined : sourceOf(session, error, { source, provider });
    const place = required?.place ?? source;
    const kubeconfig = session.kubeconfig(provider);
    const cause = explained(error, { grant, place, kubeconfig });
    return { state: 'unread', what, ...cause, ...(required && { required }) };
  }
}

function sourceOf(
  session: Session,
  error: unknown,
  { source, provider }: Pick<FactAbout, 'source'> & { readonly provider: string | undefined },
): RequiredSource | undefined {
  const required =
    error instanceof SourceError ? error.required : session.required(source, provider);
  const behind = error instanceof ApiError ? sourceByReason[error.reason] : undefined;
  return required && behind ? { source: behind, place: provider ?? required.place } : required;
}

/** Sources behind the operator, by the reason in an answer without data. */
const sourceByReason: Readonly<Record<string, FactSource>> = {
  PortUnread: 'Neutron',
  NodeUnread: 'Viola',
};

/** Returns the cause and the next step for a failed read. Rethrows errors of this program. */
export function explained(error: unknown, context: ReadContext): Explained {
  if (error instanceof SourceError) return explained(error.cause, context);
  if (error instanceof DeadlineReached) return noAnswer(error, context);
  if (error instanceof Unread) return { why: error.why, next: error.next };
  if (error instanceof AccessError) return { why: same(error.message), next: same(error.next) };
  if (error instanceof KubeError) {
    const { cause } = error;
    return cause instanceof DeadlineReached ? noAnswer(cause, context) : ofKube(error, context);
  }
  if (error instanceof ApiError) return ofApi(error);
  throw error;
}

/** Returns "did not answer within 10s". */
function noAnswer({ ms }: DeadlineReached, { place }: ReadContext): Explained {
  const time = ms < 1_000 ? `${ms}ms` : `${ms / 1_000}s`;
  return {
    why: filled(accessTexts.noAnswerWithin, { time }),
    next: filled(accessTexts.checkReachable, { place }),
  };
}

/** Next steps by the reason of the operator's answer. */
const nextByReason: Readonly<Record<string, Wording>> = {
  NotLeading: accessTexts.waitForLeader,
  NoJson: accessTexts.wrongServer,
  PortUnread: accessTexts.findUnreadCloud,
  NodeUnread: accessTexts.checkViola,
};

const seeLog = accessTexts.seeLog;

const upgrade = accessTexts.upgradeOperator;

const otherToken = accessTexts.otherToken;

function ofApi(error: ApiError): Explained {
  return { why: causeOf(error), next: nextOfApi(error) };
}

function causeOf({ isMissingRoute, status, message, reason }: ApiError): Wording {
  if (isMissingRoute) {
    return accessTexts.olderOperator;
  }
  return isDenied(status, reason)
    ? filled(accessTexts.notAllowed, { status, message })
    : same(message);
}

/** Returns the next step for a failed request to the operator. */
function nextOfApi({ isMissingRoute, status, reason }: ApiError): Wording {
  if (isMissingRoute) return upgrade;
  return isDenied(status, reason) ? otherToken : (nextByReason[reason] ?? seeLog);
}

function isDenied(status: number, reason: string): boolean {
  return (status === 401 || status === 403) && reason !== 'NoJson';
}
