import type { Certificate, Pair } from './certificate.ts';
import type { ServerPair, StoredTls } from './stored-tls.ts';

const dayMs = 86_400_000;

/** Clocks differ, and what was made a moment ago has to hold on all of them. */
export const backdatedMs = dayMs;
export const authorityLifeMs = 3_650 * dayMs;
export const serverLifeMs = 90 * dayMs;
/** So long before its end the next one is made. */
const authorityRenewalMs = 365 * dayMs;
const serverRenewalMs = 30 * dayMs;
/** Beside the one that signs; a Secret that is damaged again and again must not grow without end. */
const mostOthers = 3;

/** One write: with `pair` only what lies beside it changes, without one it is made. */
export interface TlsStep {
  readonly write: 'authority' | 'certificate';
  readonly pair: Pair | undefined;
  /** What is to lie beside it: authorities to be believed. */
  readonly beside: readonly Certificate[];
  readonly why: string;
}

export interface TlsPlan {
  /** Authorities to be believed now, whether the step is taken or not. */
  readonly trusted: readonly Certificate[];
  /** What is to be written now; undefined: nothing. */
  readonly step: TlsStep | undefined;
  /** When the next one of the two is to be made. */
  readonly dueMs: number;
}

/**
 * Decides on the next write alone, so that a stop between two writes leaves nothing half done. The operator believes an
 * authority before anything is signed by it, and the one that signed Viola's certificate for as long as that is in use.
 */
export function planTls(held: StoredTls, nowMs: number, names: readonly string[]): TlsPlan {
  const { signing, server, trusted, shown } = held;
  const newAuthority = whyNewAuthority(signing, nowMs);
  if (!signing || newAuthority !== undefined) {
    const beside = othersThan(undefined, held, nowMs);
    const why = newAuthority ?? noPair;
    const step = { write: 'authority', pair: undefined, beside, why } as const;
    return { trusted: beside, step, dueMs: nowMs };
  }
  const beside = [signing.certificate, ...othersThan(signing.certificate, held, nowMs)];
  const dueMs = Math.min(
    signing.certificate.untilMs - authorityRenewalMs,
    server ? server.certificate.untilMs - serverRenewalMs : nowMs,
  );
  const plan = (step: TlsStep | undefined): TlsPlan => ({ trusted: beside, step, dueMs });
  if (trusted.text !== bundleOf(beside)) {
    const why = 'its ca.crt is not what it is to be';
    return plan({ write: 'authority', pair: signing, beside, why });
  }
  const newServer = whyNewServer(server, beside, nowMs, names);
  if (!server || newServer !== undefined) {
    const why = newServer ?? noPair;
    return plan({ write: 'certificate', pair: undefined, beside, why });
  }
  if (shown !== bundleOf(beside)) {
    const why = 'its ca.crt is not that of the authority';
    return plan({ write: 'certificate', pair: server, beside, why });
  }
  return plan(undefined);
}

export function bundleOf(authorities: readonly Certificate[]): string {
  return authorities.map(({ pem }) => pem).join('');
}

const noPair = 'there is no certificate with a key that fits it';

function whyNewAuthority(signing: Pair | undefined, nowMs: number): string | undefined {
  if (!signing) return noPair;
  return whyNoLonger(signing.certificate, nowMs, authorityRenewalMs);
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
  if (!issuer || !isValid(issuer, nowMs)) return 'no authority that is believed signed it';
  const missing = names.filter((name) => !certificate.names.includes(name));
  if (missing.length > 0) return `it is not for ${missing.join(', ')}`;
  return whyNoLonger(certificate, nowMs, serverRenewalMs);
}

function whyNoLonger(
  certificate: Certificate,
  nowMs: number,
  renewalMs: number,
): string | undefined {
  if (!isValid(certificate, nowMs)) return 'it is not valid at this time';
  return nowMs >= certificate.untilMs - renewalMs ? 'it ends soon' : undefined;
}

function isValid({ fromMs, untilMs }: Certificate, nowMs: number): boolean {
  return fromMs <= nowMs && nowMs < untilMs;
}

/** Authorities that go on being believed: first of all the one that signed the certificate that Viola shows. */
function othersThan(
  signing: Certificate | undefined,
  { trusted, server }: StoredTls,
  nowMs: number,
): readonly Certificate[] {
  const issuer = server?.issuer ? [server.issuer] : [];
  const candidates = [...issuer, ...trusted.authorities.toSorted(newestFirst)];
  const distinct = new Map(candidates.map((one) => [one.id, one]));
  return [...distinct.values()]
    .filter(({ id, untilMs }) => id !== signing?.id && nowMs < untilMs)
    .slice(0, mostOthers)
    .toSorted(newestFirst);
}

function newestFirst(a: Certificate, b: Certificate): number {
  return b.fromMs - a.fromMs || (a.id < b.id ? -1 : 1);
}
