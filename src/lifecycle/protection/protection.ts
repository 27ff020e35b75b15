import { labels, managedObjects } from '../../api/names.ts';
import {
  type ValidatingWebhookConfiguration,
  validatingWebhookConfigurations,
} from '../../kube/core-resources.ts';
import type { ProtectionWanted } from '../accept/accepted.ts';
import { type Desired, desired, managedLabels } from '../objects/desired.ts';
import type { ProtectionReport } from '../reports.ts';
import { type Observed, type StagePlan, unchanged } from '../stage.ts';
import { caBundleOf, webhooksOf } from './configuration.ts';
import { isGlassBroken } from './decision.ts';

/** What the webhook's clients verify it with and where it is; undefined: there is no certificate yet. */
export interface WebhookAccess {
  /** PEM bundle of all authorities that are to be trusted. */
  readonly authorities: string | undefined;
  /** User name of lifecycle, whose requests the API server never sends to the webhook. */
  readonly user: string;
  /** Missing: the Service. */
  readonly url?: string | undefined;
  /** Why its certificate cannot be kept. */
  readonly trouble?: string | undefined;
}

const name = managedObjects.protection;

/**
 * ValidatingWebhookConfiguration multinic-protection. It is deleted while nothing is protected, so that
 * `kubectl get validatingwebhookconfiguration` shows what holds.
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
  if (isGlassBroken(wanted, now) || !wanted.preventsMutations) {
    return { ...withoutConfiguration(observed), ...untilGlassIsWhole(wanted, now) };
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

function untilGlassIsWhole({ breakGlassUntil }: ProtectionWanted, now: Date) {
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

/** Whether the API server calls the webhook, and believes its certificate. */
function isConfigured(
  live: ValidatingWebhookConfiguration | undefined,
  authorities: string | undefined,
): boolean {
  const { webhooks = [] } = live ?? {};
  if (authorities === undefined || webhooks.length === 0) return false;
  const bundle = caBundleOf(authorities);
  return webhooks.every(({ clientConfig }) => clientConfig.caBundle === bundle);
}
