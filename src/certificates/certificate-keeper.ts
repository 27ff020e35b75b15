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

/** Certificate state after a round, for metrics. */
interface TlsState {
  /** CA expiry; undefined: no CA yet. */
  readonly authorityUntilMs: number | undefined;
  readonly serverUntilMs: number | undefined;
  /** Time for the next renewal, CA or certificate. */
  readonly dueMs: number;
}

export interface CertificateKeeperDeps<Effect extends string> {
  readonly secrets: OwnedSecrets<Effect>;
  readonly kept: {
    readonly authority: OwnedSecret<Effect>;
    readonly certificate: OwnedSecret<Effect>;
  };
  /** The server's host names and addresses. */
  readonly names: readonly string[];
  readonly clock: Clock;
  /** Called before each Secret write. */
  readonly onWrite: (secret: string, why: string) => void;
  /**
   * Called before replacing a certificate clients accept; returns whether all clients trust these CAs. While false,
   * the certificate stays. Default: clients read the CAs from our Secret.
   */
  readonly mayReplace?: (trusted: string, signal: AbortSignal) => Promise<boolean>;
  /** Called after each successful round. */
  readonly onRound?: (kept: TlsState) => void;
}

export interface CertificateKeeper {
  /** Starts a leadership term: trusted CAs stay until the first round has read the Secrets. */
  lead(): void;
  /**
   * Reads both Secrets and writes until the plan is empty. Returns false when a new certificate waits for
   * `mayReplace`. Throws `SecretError`; `trusted` then stays unchanged.
   */
  round(signal: AbortSignal): Promise<boolean>;
  /** PEM bundle for verifying the server certificate; undefined: none yet. */
  readonly trusted: string | undefined;
}

/** Write limit per round. More writes mean another process changes the Secret before each read. */
const maxWrites = 4;

export const changed =
  'another client, such as an admission webhook, changes the Secret after each write';

/** Maintains a CA and a server certificate in two Secrets, and renews both with overlap. */
export function createCertificateKeeper<Effect extends string>(
  deps: CertificateKeeperDeps<Effect>,
): CertificateKeeper {
  const { secrets, kept, names, clock, onWrite, onRound, mayReplace } = deps;
  let trusted: string | undefined;
  let hasReadSecrets = false;

  interface StoredSecrets {
    readonly authority: ReadSecret;
    readonly certificate: ReadSecret;
  }

  async function write(
    step: TlsStep,
    stored: StoredSecrets,
    tls: StoredTls,
    signal: AbortSignal,
  ): Promise<StoredSecrets> {
    const target = kept[step.write];
    onWrite(target.name, step.why);
    const content = await contentOf(step, tls);
    const written = await secrets.write(target, stored[step.write], content, signal);
    return { ...stored, [step.write]: written };
  }

  /** Returns true if clients must trust the CA first. A certificate no client accepts is replaced at once. */
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
    if (!signing) throw new Error('a server certificate needs an authority to sign it');
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
      hasReadSecrets = false;
    },
    async round(signal) {
      let stored: StoredSecrets = {
        authority: await secrets.read(kept.authority, signal),
        certificate: await secrets.read(kept.certificate, signal),
      };
      for (let steps = 0; ; steps++) {
        const tls = storedTls(
          stored.authority,
          stored.certificate,
          hasReadSecrets ? trusted : undefined,
        );
        const plan = planTls(tls, clock.now().getTime(), names);
        if (plan.trusted.length > 0) {
          trusted = bundleOf(plan.trusted);
          hasReadSecrets = true;
        }
        if (!plan.step || (await mustWait(plan.step, tls, signal))) {
          report(tls, plan.dueMs);
          return plan.step === undefined;
        }
        if (steps === maxWrites) throw new SecretError(kept[plan.step.write].name, changed);
        stored = await write(plan.step, stored, tls, signal);
      }
    },
    get trusted() {
      return trusted;
    },
  };
}

/** Returns a Service's DNS names, from inside and outside its namespace. */
export function serviceNames(service: string, namespace: string): readonly string[] {
  const inNamespace = `${service}.${namespace}`;
  return [service, inNamespace, `${inNamespace}.svc`, `${inNamespace}.svc.cluster.local`];
}

function tlsContent(certificate: string, key: string, authorities: string): Content {
  const { authorities: ca, certificate: crt, key: pem } = tlsKeys;
  return { data: { [ca]: authorities, [crt]: certificate, [pem]: key } };
}
