import type { WebhookAccess } from './protection.ts';

/** The admission webhook of this process. */
export interface Webhook {
  /** Access data for the API server. */
  readonly access: WebhookAccess;
  /** True if the webhook answers its self-call over TLS, verified by the CAs in `access`. */
  readonly answers: boolean;
  /** Calls the listener when `access` or `answers` changes. */
  onChange(listener: () => void): void;
  /** Maintains CA and certificate while this process is the leader. */
  keepCertificates(leading: AbortSignal): Promise<void>;
  /** Serves in every replica, and follows certificate renewals. */
  serve(signal: AbortSignal): Promise<void>;
}
