import { violaService } from '../../api/names.ts';
import type { Logger } from '../../process/log.ts';
import type { Clock } from '../../time/clock.ts';
import type { OperatorMetrics } from '../metrics/metrics.ts';
import { type HeldTls, heldTls, tlsKeys } from './held-tls.ts';
import {
  type Content,
  type HeldSecret,
  type KeptSecrets,
  kept,
  SecretTrouble,
} from './kept-secret.ts';
import {
  authorityLifeMs,
  backdatedMs,
  bundleOf,
  planTls,
  serverLifeMs,
  type TlsStep,
} from './tls-plan.ts';

export interface TlsDeps {
  readonly secrets: KeptSecrets;
  readonly namespace: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: OperatorMetrics;
}

/** More writes than are ever needed: what was written is changed by somebody else before it is read. */
const mostSteps = 4;

/** Keeps a certificate authority, and the certificate that Viola serves with. */
export function createTlsKeeper({ secrets, namespace, clock, log, metrics }: TlsDeps) {
  const names = serverNames(namespace);
  let trusted: string | undefined;
  let remembers = false;

  interface Held {
    readonly authority: HeldSecret;
    readonly certificate: HeldSecret;
  }

  async function write(
    step: TlsStep,
    held: Held,
    tls: HeldTls,
    signal: AbortSignal,
  ): Promise<Held> {
    const which = kept[step.write];
    log.info({ name: which.name, why: step.why }, 'writing a Secret of the access to Viola');
    const content = await contentOf(step, tls);
    const written = await secrets.write(which, held[step.write], content, signal);
    return { ...held, [step.write]: written };
  }

  async function contentOf(step: TlsStep, { signing }: HeldTls): Promise<Content> {
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

  function tell({ signing, server }: HeldTls, dueMs: number): void {
    const ends = { ca: signing, server };
    for (const [certificate, pair] of Object.entries(ends)) {
      const endsMs = pair?.certificate.untilMs ?? 0;
      const name = 'multinic_viola_certificate_expiry_timestamp_seconds';
      metrics.set(name, { certificate }, endsMs / 1000);
    }
    const what = { what: 'certificate' };
    metrics.set('multinic_viola_access_renewal_timestamp_seconds', what, dueMs / 1000);
  }

  return {
    /** Whoever leads again goes on with what it knew until it has read what holds now, and then forgets it. */
    lead(): void {
      remembers = false;
    },
    /** Looks once, and writes until nothing is to be written. Throws `SecretTrouble`; what is believed stays then. */
    async round(signal: AbortSignal): Promise<void> {
      let held: Held = {
        authority: await secrets.read(kept.authority, signal),
        certificate: await secrets.read(kept.certificate, signal),
      };
      for (let steps = 0; ; steps++) {
        const tls = heldTls(held.authority, held.certificate, remembers ? trusted : undefined);
        const plan = planTls(tls, clock.now().getTime(), names);
        if (plan.trusted.length > 0) {
          trusted = bundleOf(plan.trusted);
          remembers = true;
        }
        if (!plan.step) return tell(tls, plan.dueMs);
        if (steps === mostSteps) throw new SecretTrouble(kept[plan.step.write].name, changed);
        held = await write(plan.step, held, tls, signal);
      }
    },
    /** The authorities that Viola's certificate is verified with; undefined as long as there are none. */
    get trusted(): string | undefined {
      return trusted;
    },
  };
}

export const changed =
  'what was written is not what is read: something, such as an admission webhook, changes it';

/** Whatever calls Viola by its Service, or through `kubectl port-forward`. */
function serverNames(namespace: string): readonly string[] {
  const inNamespace = `${violaService}.${namespace}`;
  const service = [
    violaService,
    inNamespace,
    `${inNamespace}.svc`,
    `${inNamespace}.svc.cluster.local`,
  ];
  return [...service, 'localhost', '127.0.0.1'];
}

function tlsContent(certificate: string, key: string, authorities: string): Content {
  const { authorities: ca, certificate: crt, key: pem } = tlsKeys;
  return { data: { [ca]: authorities, [crt]: certificate, [pem]: key } };
}
