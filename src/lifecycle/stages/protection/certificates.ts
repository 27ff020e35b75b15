import type { Effect } from '../../../api/effects.ts';
import type { metricTable } from '../../../api/metrics.ts';
import { managedObjects } from '../../../api/names.ts';
import {
  type CertificateKeeper,
  createCertificateKeeper,
} from '../../../certificates/certificate-keeper.ts';
import { SecretError } from '../../../certificates/owned-secret.ts';
import type { KubeClient } from '../../../kube/client/client.ts';
import { validatingWebhookConfigurations } from '../../../kube/core-resources.ts';
import type { Perform } from '../../../process/effects.ts';
import type { PartContext } from '../../../process/part.ts';
import { type Backoff, backoffMs } from '../../../time/backoff.ts';
import { passed } from '../../../time/clock.ts';
import { caBundleOf } from './configuration.ts';
import { createWebhookSecrets, webhookNames, webhookSecrets } from './webhook-secrets.ts';

export interface WebhookCertificatesDeps {
  readonly client: Pick<KubeClient, 'find' | 'apply'>;
  readonly context: Pick<PartContext<typeof metricTable>, 'clock' | 'random' | 'log' | 'metrics'>;
  readonly perform: Perform<Effect>;
  readonly namespace: string;
  readonly url: string | undefined;
  readonly onChange: () => void;
}

/** Milliseconds between two reads of the Secrets; a changed certificate Secret wakes earlier. */
const pollMs = 60_000;
const again: Backoff = { baseMs: 1_000, maxMs: pollMs };

/** Maintains the webhook's CA and certificate while this process is the leader. */
export interface WebhookCertificates {
  /** PEM of all CAs that may have signed the served certificate; undefined: not read yet. */
  readonly authorities: string | undefined;
  /** Error of the last round, with the Secret's name. */
  readonly trouble: string | undefined;
  run(leading: AbortSignal): Promise<void>;
  /** Reads the Secrets immediately. */
  wake(): void;
}

export function createWebhookCertificates(deps: WebhookCertificatesDeps): WebhookCertificates {
  const { client, context, perform, namespace, url, onChange } = deps;
  const { clock, random, log, metrics } = context;
  let awake = new AbortController();
  let published: string | undefined;
  let trouble: string | undefined;

  const keeper: CertificateKeeper = createCertificateKeeper({
    secrets: createWebhookSecrets({ client, namespace, perform }),
    kept: webhookSecrets,
    names: webhookNames(namespace, url),
    clock,
    onWrite: (name, why) => log.info({ name, why }, 'writing a Secret of the webhook'),
    onRound: ({ authorityUntilMs = 0, serverUntilMs = 0 }) => {
      const name = 'multinic_webhook_certificate_expiry_timestamp_seconds';
      metrics.set(name, { certificate: 'ca' }, authorityUntilMs / 1000);
      metrics.set(name, { certificate: 'server' }, serverUntilMs / 1000);
    },
    mayReplace: async (trusted, signal) => {
      publish(trusted);
      return isBelieved(trusted, signal);
    },
  });

  /** True if every webhook entry on the API server trusts all of these CAs. */
  async function isBelieved(trusted: string, signal: AbortSignal): Promise<boolean> {
    const ref = { name: managedObjects.protection };
    const found = await client.find(validatingWebhookConfigurations, ref, { signal });
    const bundle = caBundleOf(trusted);
    return (found?.webhooks ?? []).every(({ clientConfig }) => clientConfig.caBundle === bundle);
  }

  function publish(trusted: string | undefined, failure?: string): void {
    if (trusted === published && failure === trouble) return;
    published = trusted;
    trouble = failure;
    onChange();
  }

  async function round(leading: AbortSignal): Promise<'done' | 'waiting' | 'failed'> {
    try {
      const isDone = await keeper.round(leading);
      publish(keeper.trusted);
      return isDone ? 'done' : 'waiting';
    } catch (error) {
      leading.throwIfAborted();
      if (error instanceof SecretError && error.isRace) {
        publish(keeper.trusted);
        return 'waiting';
      }
      publish(keeper.trusted, error instanceof Error ? error.message : String(error));
      log.error({ err: error }, 'webhook certificate not renewed, retrying');
      return 'failed';
    }
  }

  /** Waits until woken or timed out. */
  async function pause(ms: number, leading: AbortSignal): Promise<void> {
    const stop = (): void => awake.abort();
    leading.addEventListener('abort', stop, { once: true });
    if (leading.aborted) stop();
    await passed(clock, ms, awake.signal);
    leading.removeEventListener('abort', stop);
    awake = new AbortController();
  }

  return {
    get authorities() {
      return published;
    },
    get trouble() {
      return trouble;
    },
    async run(leading) {
      keeper.lead();
      let failures = 0;
      while (!leading.aborted) {
        const result = await round(leading);
        failures = result === 'failed' ? failures + 1 : 0;
        const failedMs = failures === 0 ? pollMs : backoffMs(failures - 1, again, random);
        await pause(result === 'waiting' ? again.baseMs : failedMs, leading);
      }
    },
    wake: () => awake.abort(),
  };
}
