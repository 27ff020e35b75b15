import type { HttpServer } from '../../../http/app.ts';
import { listen } from '../../../http/server.ts';
import type { StoreView } from '../../../kube/cache/store.ts';
import type { Secret } from '../../../kube/core-resources.ts';
import type { Logger } from '../../../process/log.ts';
import { type Clock, passed } from '../../../time/clock.ts';
import type { AdmissionRequest } from './admission-review.ts';
import { answersOwnCall } from './own-call.ts';
import { type ServedCertificate, servedCertificate } from './served-certificate.ts';
import { createWebhookServer } from './webhook-server.ts';

export interface WebhookServiceDeps {
  /** Store with only the certificate's Secret. */
  readonly certificateSecrets: StoreView<Secret> & { list(): readonly Secret[] };
  readonly address: { readonly host: string; readonly port: number };
  /** A name covered by the certificate. */
  readonly serverName: string;
  /** PEM with which API servers verify the certificate; undefined: use the CAs next to the certificate. */
  readonly authorities: () => string | undefined;
  readonly decide: (request: AdmissionRequest) => string | undefined;
  readonly clock: Clock;
  readonly log: Logger;
  /** Called when `answers` changes. */
  readonly onChange: () => void;
}

export interface WebhookService {
  readonly isServing: boolean;
  /** True if the last self-call was verified and answered. */
  readonly answers: boolean;
  /** Serves from the first usable certificate until the signal aborts. */
  run(signal: AbortSignal): Promise<void>;
}

/** Milliseconds between two periodic self-calls; each certificate change triggers another. */
const ownCallMs = 60_000;

/** Serves the webhook with a Secret's certificate; a broken Secret leaves the last good certificate in use. */
export function createWebhookService(deps: WebhookServiceDeps): WebhookService {
  const { certificateSecrets, address, serverName, authorities, decide, clock, log, onChange } =
    deps;
  let served: ServedCertificate | undefined;
  let port: number | undefined;
  let answers = false;

  function usable(): ServedCertificate | undefined {
    return servedCertificate(certificateSecrets.list()[0]);
  }

  async function firstCertificate(signal: AbortSignal): Promise<ServedCertificate | undefined> {
    const found = Promise.withResolvers<ServedCertificate | undefined>();
    const look = (): void => {
      const certificate = usable();
      if (certificate) found.resolve(certificate);
    };
    const end = certificateSecrets.subscribe(look);
    const onAbort = (): void => found.resolve(undefined);
    signal.addEventListener('abort', onAbort, { once: true });
    look();
    if (signal.aborted) onAbort();
    try {
      return await found.promise;
    } finally {
      end();
      signal.removeEventListener('abort', onAbort);
    }
  }

  function renew({ server }: HttpServer): void {
    const now = usable();
    if (!now || (now.cert === served?.cert && now.key === served.key)) return;
    const { cert, key } = now;
    if ('setSecureContext' in server) server.setSecureContext({ cert, key });
    served = now;
    log.info('renewed webhook certificate in use');
    void callItself();
  }

  async function callItself(): Promise<void> {
    const ca = authorities() ?? served?.authorities ?? '';
    const before = answers;
    answers =
      port !== undefined && (await answersOwnCall({ host: address.host, port, ca, serverName }));
    if (answers !== before) onChange();
  }

  return {
    get isServing() {
      return port !== undefined;
    },
    get answers() {
      return answers;
    },
    async run(signal) {
      served = await firstCertificate(signal);
      if (!served) return;
      const { cert, key } = served;
      const app = createWebhookServer({ tls: { cert, key }, clock, log, decide });
      const end = certificateSecrets.subscribe(() => renew(app));
      try {
        const { url } = await listen(app, address, signal);
        port = Number(new URL(url).port);
        log.info({ url }, 'webhook serving');
        renew(app);
        do await callItself();
        while (await passed(clock, ownCallMs, signal));
      } finally {
        end();
        port = undefined;
        answers = false;
        await app.close();
      }
    },
  };
}
