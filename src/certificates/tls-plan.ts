import type { Certificate, Pair } from './certificate.ts';
import type { ServerPair, StoredTls } from './stored-tls.ts';

const dayMs = 86_400_000;

/** Backdating (1 day): clocks differ, and a new certificate must be valid on every clock. */
export const backdatedMs = dayMs;
export const authorityLifeMs = 3_650 * dayMs;
export const serverLifeMs = 90 * dayMs;
/** Renewal lead time before expiry. */
const authorityRenewalMs = 365 * dayMs;
const serverRenewalMs = 30 * dayMs;
/** Maximum CAs beside the signing CA: repeated Secret damage must not grow the bundle without limit. */
const maxOtherAuthorities = 3;

/** One write: with `pair` only the CA bundle changes; without `pair` a new certificate is issued. */
export interface TlsStep {
  readonly write: 'authority' | 'certificate';
  readonly pair: Pair | undefined;
  /** CA bundle to write: all trusted CAs. */
  readonly beside: readonly Certificate[];
  readonly why: string;
}

export interface TlsPlan {
  /** CAs to trust now, even before the step is written. */
  readonly trusted: readonly Certificate[];
  /** The next write; undefined: nothing to write. */
  readonly step: TlsStep | undefined;
  /** Time for the next renewal, CA or certificate. */
  readonly dueMs: number;
}

/**
 * Plans only the next write: a crash between two writes then leaves a consistent state. The operator trusts a CA
 * before its first signature. The CA behind the served certificate stays trusted while in use.
 */
export function planTls(stored: StoredTls, nowMs: number, names: readonly string[]): TlsPlan {
  const { signing, server, trusted, shown } = stored;
  const newAuthority = whyNewAuthority(signing, nowMs);
  if (!signing || newAuthority !== undefined) {
    const beside = authoritiesBeside(undefined, stored, nowMs);
    const why = newAuthority ?? noPair;
    const step = { write: 'authority', pair: undefined, beside, why } as const;
    return { trusted: beside, step, dueMs: nowMs };
  }
  const beside = [signing.certificate, ...authoritiesBeside(signing.certificate, stored, nowMs)];
  const dueMs = Math.min(
    signing.certificate.untilMs - authorityRenewalMs,
    server ? server.certificate.untilMs - serverRenewalMs : nowMs,
  );
  const plan = (step: TlsStep | undefined): TlsPlan => ({ trusted: beside, step, dueMs });
  if (trusted.text !== bundleOf(beside)) {
    const why = 'its ca.crt is out of date';
    return plan({ write: 'authority', pair: signing, beside, why });
  }
  const newServer = whyNewServer(server, beside, nowMs, names);
  if (!server || newServer !== undefined) {
    const why = newServer ?? noPair;
    return plan({ write: 'certificate', pair: undefined, beside, why });
  }
  if (shown !== bundleOf(beside)) {
    const why = 'its ca.crt differs from that of the authority';
    return plan({ write: 'certificate', pair: server, beside, why });
  }
  return plan(undefined);
}

export function bundleOf(authorities: readonly Certificate[]): string {
  return authorities.map(({ pem }) => pem).join('');
}

const noPair = 'it has no certificate with a matching key';

function whyNewAuthority(signing: Pair | undefined, nowMs: number): string | undefined {
  if (!signing) return noPair;
  return whyRenew(signing.certificate, nowMs, authorityRenewalMs);
}

function whyNewServer(
  server: ServerPair | undefined,
  trusted: readonly Certificate[],
  nowMs: number,
  names: readonly string[],
): string | undefined {
  if (!server) return noPair;
  const { certificate } = server;
  const issuer = trusted.find(({ id }) => id === server.issuer?.id);
  if (!issuer || !isValid(issuer, nowMs)) return 'its issuer is not a trusted authority';
  const missing = names.filter((name) => !certificate.names.includes(name));
  if (missing.length > 0) return `it lacks the DNS names ${missing.join(', ')}`;
  return whyRenew(certificate, nowMs, serverRenewalMs);
}

function whyRenew(certificate: Certificate, nowMs: number, renewalMs: number): string | undefined {
  if (!isValid(certificate, nowMs)) return 'it has expired or is not valid yet';
  return nowMs >= certificate.untilMs - renewalMs ? 'it expires soon' : undefined;
}

function isValid({ fromMs, untilMs }: Certificate, nowMs: number): boolean {
  return fromMs <= nowMs && nowMs < untilMs;
}

/** Returns CAs that stay trusted, starting with the served certificate's CA. */
function authoritiesBeside(
  signing: Certificate | undefined,
  { trusted, server }: StoredTls,
  nowMs: number,
): readonly Certificate[] {
  const issuer = server?.issuer ? [server.issuer] : [];
  const candidates = [...issuer, ...trusted.authorities.toSorted(newestFirst)];
  const distinct = new Map(candidates.map((one) => [one.id, one]));
  return [...distinct.values()]
    .filter(({ id, untilMs }) => id !== signing?.id && nowMs < untilMs)
    .slice(0, maxOtherAuthorities)
    .toSorted(newestFirst);
}

function newestFirst(a: Certificate, b: Certificate): number {
  return b.fromMs - a.fromMs || (a.id < b.id ? -1 : 1);
}
