import type { Clock } from '../time/clock.ts';
import {
  type Content,
  type OwnedSecret,
  type OwnedSecrets,
  type ReadSecret,
  SecretError,
} from './owned-secret.ts';
import { type StoredTls, storedTls, tlsKeys } from './stored-tls.ts';
import {
  authorityLifeMs,
  backdatedMs,
  bundleOf,
  planTls,
  serverLifeMs,
  type TlsStep,
} from './tls-plan.ts';

/** What a round found or made, for metrics. */
export interface TlsState {
  /** When the authority ends; undefined: there is none. */
  readonly authorityUntilMs: number | undefined;
  readonly serverUntilMs: number | undefined;
  /** When the next of the two is issued. */
  readonly dueMs: number;
}

export interface CertificateKeeperDeps<Effect extends string> {
  readonly secrets: OwnedSecrets<Effect>;
  readonly kept: {
    readonly authority: OwnedSecret<Effect>;
    readonly certificate: OwnedSecret<Effect>;
  };
  /** Host names and addresses of the server. */
  readonly names: readonly string[];
  readonly clock: Clock;
  /** Called before each write of a Secret. */
  readonly onWrite: (secret: string, why: string) => void;
  /**
   * Asked before another certificate replaces one that clients accept: whether all clients believe these authorities.
   * While it answers false the certificate stays. Default: clients read the authorities from us.
   */
  readonly mayReplace?: (trusted: string, signal: AbortSignal) => Promise<boolean>;
  /** Called after each round that succeeded. */
  readonly onRound?: (kept: TlsState) => void;
}

export interface CertificateKeeper {
  /** Starts a term of leadership: what was believed stays until the first round has read what holds now. */
  lead(): void;
  /**
   * Reads both Secrets, and writes until nothing is left to write. Returns false when a new certificate has to wait for
   * `mayReplace`. Throws `SecretTrouble`; `trusted` stays then.
   */
  round(signal: AbortSignal): Promise<boolean>;
  /** PEM of the authorities that the server's certificate is verified with; undefined: none yet. */
  readonly trusted: string | undefined;
}

/** More writes than are ever needed: something changes each Secret before the next read. */
const mostSteps = 4;

export const changed =
  'what was written is not what is read: something, such as an admission webhook, changes it';

/** Keeps a certificate authority and a certificate of a server in two Secrets, and renews them with overlap. */
export function createCertificateKeeper<Effect extends string>(
  deps: CertificateKeeperDeps<Effect>,
): CertificateKeeper {
  const { secrets, kept, names, clock, onWrite, onRound, mayReplace } = deps;
  let trusted: string | undefined;
  let remembers = false;

  interface Held {
    readonly authority: ReadSecret;
    readonly certificate: ReadSecret;
  }

  async function write(
    step: TlsStep,
    held: Held,
    tls: StoredTls,
    signal: AbortSignal,
  ): Promise<Held> {
    const which = kept[step.write];
    onWrite(which.name, step.why);
    const content = await contentOf(step, tls);
    const written = await secrets.write(which, held[step.write], content, signal);
    return { ...held, [step.write]: written };
  }

  /** A certificate that no client accepts any more is replaced at once. */
  async function mustWait(
    { write: what, pair, beside }: TlsStep,
    { server }: StoredTls,
    signal: AbortSignal,
  ): Promise<boolean> {
    if (!mayReplace || what !== 'certificate' || pair || !server?.issuer) return false;
    const { fromMs, untilMs } = server.certificate;
    const now = clock.now().getTime();
    const isAccepted = fromMs <= now && now < untilMs;
    return isAccepted && !(await mayReplace(bundleOf(beside), signal));
  }

  async function contentOf(step: TlsStep, { signing }: StoredTls): Promise<Content> {
    const { pair, beside } = step;
    if (pair) return tlsContent(pair.certificate.pem, pair.key, bundleOf(beside));
    const { issueAuthority, issueServer } = await import('./issue.ts');
    if (step.write === 'authority') {
      const made = issueAuthority(validity(authorityLifeMs));
      return tlsContent(made.certificate, made.key, made.certificate + bundleOf(beside));
    }
    if (!signing) throw new Error('nothing is signed without an authority');
    const by = { certificate: signing.certificate.pem, key: signing.key };
    const made = issueServer(by, names, validity(serverLifeMs));
    return tlsContent(made.certificate, made.key, bundleOf(beside));
  }

  function validity(lifeMs: number) {
    const now = clock.now().getTime();
    return { from: new Date(now - backdatedMs), until: new Date(now + lifeMs) };
  }

  function report({ signing, server }: StoredTls, dueMs: number): void {
    onRound?.({
      authorityUntilMs: signing?.certificate.untilMs,
      serverUntilMs: server?.certificate.untilMs,
      dueMs,
    });
  }

  return {
    lead(): void {
      remembers = false;
    },
    async round(signal) {
      let held: Held = {
        authority: await secrets.read(kept.authority, signal),
        certificate: await secrets.read(kept.certificate, signal),
      };
      for (let steps = 0; ; steps++) {
        const tls = storedTls(held.authority, held.certificate, remembers ? trusted : undefined);
        const plan = planTls(tls, clock.now().getTime(), names);
        if (plan.trusted.length > 0) {
          trusted = bundleOf(plan.trusted);
          remembers = true;
        }
        if (!plan.step || (await mustWait(plan.step, tls, signal))) {
          report(tls, plan.dueMs);
          return plan.step === undefined;
        }
        if (steps === mostSteps) throw new SecretError(kept[plan.step.write].name, changed);
        held = await write(plan.step, held, tls, signal);
      }
    },
    get trusted() {
      return trusted;
    },
  };
}

/** Names of a Service, from its own namespace and from outside of it. */
export function serviceNames(service: string, namespace: string): readonly string[] {
  const inNamespace = `${service}.${namespace}`;
  return [service, inNamespace, `${inNamespace}.svc`, `${inNamespace}.svc.cluster.local`];
}

function tlsContent(certificate: string, key: string, authorities: string): Content {
  const { authorities: ca, certificate: crt, key: pem } = tlsKeys;
  return { data: { [ca]: authorities, [crt]: certificate, [pem]: key } };
}
