import type { ProtectionReport } from '../reports.ts';
import { type Observed, type StagePlan, unchanged } from '../stage.ts';

/** What the webhook's clients verify it with and where it is; undefined: there is no certificate yet. */
export interface WebhookAccess {
  /** PEM bundle of all authorities that are to be trusted. */
  readonly authorities: string | undefined;
  /** Missing: the Service. */
  readonly url?: string | undefined;
}

/** ValidatingWebhookConfiguration multinic-protection. */
export function protection(
  _observed: Observed,
  _access: WebhookAccess,
): StagePlan<ProtectionReport> {
  return unchanged([], { configured: false });
}
