import type { WebhookAccess } from './protection.ts';

/** The admission webhook of this process. */
export interface Webhook {
  /** What the API server verifies it with. */
  readonly access: WebhookAccess;
  /** Whether it answers its own call over TLS, verified by the authorities of `access`. */
  readonly answers: boolean;
  /** Told when `access` or `answers` becomes another. */
  onChange(listener: () => void): void;
  /** Keeps authority and certificate, while this process leads. */
  keepCertificates(leading: AbortSignal): Promise<void>;
  /** Serves, in every replica, and follows renewals. */
  serve(signal: AbortSignal): Promise<void>;
}
