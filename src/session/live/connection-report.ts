import type { Wording } from '../../api/texts/text.ts';
import { same } from '../../explain/wording.ts';
import { grantReader } from '../access/grants.ts';
import { usualHomes } from '../access/operator-home.ts';
import type { AccessOptions } from '../access/options.ts';
import { choiceOf, kubeconfigOf, requiredSource } from '../access/sources.ts';
import type { Explained } from '../facts/kube-cause.ts';
import { explained } from '../facts/unread.ts';
import type { ConnectionState } from './live-connection.ts';

/** A connection's state for people. */
export interface ConnectionReport {
  readonly source: 'management cluster' | 'operator' | 'business cluster';
  /** The business cluster. */
  readonly provider: string | undefined;
  /** URL, kubeconfig path, context or port-forward. */
  readonly place: string;
  readonly phase: ConnectionState['phase'];
  /** Start of the phase (RFC 3339); undefined: not used yet. */
  readonly since: string | undefined;
  /** Reason for a loss. */
  readonly why: Wording | undefined;
  /** The user's next step after a loss. */
  readonly next: Wording | undefined;
}

interface ReportContext extends Pick<ConnectionReport, 'source' | 'provider'> {
  readonly options: AccessOptions;
  readonly operatorPlace: string;
}

/** Returns the report for a state. */
export function reportOf(state: ConnectionState, context: ReportContext): ConnectionReport {
  const { source, provider, options, operatorPlace } = context;
  const place = requiredSource(options, { source, provider, operatorPlace })?.place ?? source;
  const cause = state.phase === 'lost' ? causeOf(state.error, { ...context, place }) : undefined;
  return {
    source,
    provider,
    place,
    phase: state.phase,
    since: state.phase === 'unused' ? undefined : state.since.toISOString(),
    why: cause?.why,
    next: cause?.next,
  };
}

function causeOf(
  error: unknown,
  { options, provider, place }: ReportContext & { readonly place: string },
): Explained {
  const grant = grantReader(options.operatorNamespace ?? usualHomes[0]);
  const kubeconfig = kubeconfigOf(choiceOf(options, provider)?.kubeconfig);
  try {
    return explained(error, { grant, place, kubeconfig });
  } catch {
    return { why: same(error instanceof Error ? error.message : String(error)), next: same('') };
  }
}
