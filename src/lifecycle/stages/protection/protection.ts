import { labels, managedObjects } from '../../../api/names.ts';
import {
  type ValidatingWebhookConfiguration,
  validatingWebhookConfigurations,
} from '../../../kube/core-resources.ts';
import type { ProtectionWanted } from '../../model/accepted.ts';
import { isBreakGlassActive } from '../../model/break-glass.ts';
import { type Desired, desired, managedLabels } from '../../model/desired.ts';
import type { ProtectionReport } from '../../model/reports.ts';
import { type Observed, type StagePlan, unchanged } from '../../model/stage.ts';
import { caBundleOf, webhooksOf } from './configuration.ts';

/** CA, user and URL for calling the webhook; `authorities` undefined: no certificate yet. */
export interface WebhookAccess {
  /** PEM bundle of all trusted CAs. */
  readonly authorities: string | undefined;
  /** User name of lifecycle, exempt from the webhook. */
  readonly user: string;
  /** Undefined: the Service is used. */
  readonly url?: string | undefined;
  /** Why the certificate cannot be maintained. */
  readonly trouble?: string | undefined;
}

const name = managedObjects.protection;

/**
 * Plans ValidatingWebhookConfiguration multinic-protection. The configuration is deleted while nothing is protected:
 * `kubectl get validatingwebhookconfiguration` then shows the truth.
 */
export function protection(observed: Observed, access: WebhookAccess): StagePlan<ProtectionReport> {
  const { accepted, objects, now } = observed;
  const { value: wanted, problems } = accepted.protection;
  const live = objects.find(validatingWebhookConfigurations, name);
  const { trouble: message } = access;
  const report = {
    configured: isConfigured(live, access.authorities),
    ...(message !== undefined && { message }),
  };
  if (!wanted) return unchanged(problems, report);
  if (isBreakGlassActive(wanted, now) || !wanted.preventsMutations) {
    return { ...withoutConfiguration(observed), ...untilBreakGlassEnds(wanted, now) };
  }
  if (access.authorities === undefined) return unchanged([], report);
  const { authorities, url, user } = access;
  const { namespace, kubernetesMinor } = observed;
  const { allowed } = wanted;
  const input = { namespace, user, authorities, url, allowed, kubernetesMinor };
  const webhooks = webhooksOf(input);
  if (webhooks.length === 0) return withoutConfiguration(observed);
  return {
    ...unchanged([], report),
    apply: [configuration(observed, webhooks)],
  };
}

function withoutConfiguration({ objects }: Observed): StagePlan<ProtectionReport> {
  const live = objects.find(validatingWebhookConfigurations, name);
  const removal = { resource: validatingWebhookConfigurations, ref: { name } };
  return { ...unchanged([], { configured: false }), remove: live ? [removal] : [] };
}

function untilBreakGlassEnds({ breakGlassUntil }: ProtectionWanted, now: Date) {
  if (breakGlassUntil === undefined || breakGlassUntil <= now) return {};
  return { requeueAfterMs: breakGlassUntil.getTime() - now.getTime() };
}

function configuration({ operator }: Observed, webhooks: ReturnType<typeof webhooksOf>): Desired {
  const own = {
    [labels.appName]: 'multinic-operator',
    [labels.component]: 'webhook',
    [labels.partOf]: 'multinic',
  };
  return desired(validatingWebhookConfigurations, {
    metadata: { name, labels: { ...own, ...managedLabels(operator) } },
    webhooks,
  });
}

/** True if the API server calls the webhook and trusts its certificate. */
function isConfigured(
  live: ValidatingWebhookConfiguration | undefined,
  authorities: string | undefined,
): boolean {
  const { webhooks = [] } = live ?? {};
  if (authorities === undefined || webhooks.length === 0) return false;
  const bundle = caBundleOf(authorities);
  return webhooks.every(({ clientConfig }) => clientConfig.caBundle === bundle);
}
