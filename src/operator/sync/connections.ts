import { keyOf } from '../../kube/object.ts';
import type { Clouds } from '../../openstack/clouds.ts';
import type { BrokerSecrets } from '../broker-secret/broker-secrets.ts';
import type { AccountDeps } from '../credentials/account.ts';
import { loginOf } from '../credentials/identity.ts';
import type { ViolaClient } from '../deliver/viola-client.ts';
import type { Violas } from '../deliver/violas.ts';
import type { Notifications } from '../notifications/notifications.ts';
import type { CloudView, CloudViews } from '../observe/cloud-view.ts';
import { isPinned } from '../observe/servers.ts';
import type { SyncRequest } from './request.ts';

export interface AccessDeps extends AccountDeps {
  readonly clouds: Pick<Clouds, 'get' | 'provider'>;
  readonly views: CloudViews;
  readonly violas: Violas;
  readonly notifications: Pick<Notifications, 'join' | 'leave'>;
  readonly brokerSecrets: Pick<BrokerSecrets, 'keep'>;
}

/** Both ends of a sync. */
export interface Access {
  readonly view: CloudView;
  readonly viola: ViolaClient;
  /** Whose certificates are not verified at the wish of the CR. */
  readonly unverified: readonly string[];
}

/** From the credentials to the cloud, and the business cluster. Throws StepFailure. */
export async function access(
  { config, source, asked }: SyncRequest,
  deps: AccessDeps,
  signal: AbortSignal,
): Promise<Access> {
  const { identity, broker, unverified } = await loginOf(config, source.namespace, deps, signal);
  deps.notifications.join(keyOf(source), broker);
  deps.brokerSecrets.keep(source, broker);
  return {
    view: deps.views.of(deps.clouds.get(identity, asked), keyOf(source), !isPinned(config.servers)),
    viola: await deps.violas.of(config.viola, config.providerId, source),
    unverified,
  };
}
