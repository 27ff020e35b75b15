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
import { reconcileAtOf } from '../openstack-config.ts';
import type { CloudAges } from '../schedule/cloud-age.ts';
import type { SyncContext } from './context.ts';

export interface ConnectionDeps extends AccountDeps {
  readonly clouds: Pick<Clouds, 'get' | 'provider'>;
  readonly views: CloudViews;
  readonly cloudAges: Pick<CloudAges, 'begin'>;
  readonly violas: Violas;
  readonly notifications: Pick<Notifications, 'join' | 'leave'>;
  readonly brokerSecrets: Pick<BrokerSecrets, 'keep'>;
}

/** A sync's cloud and Viola. */
export interface Connections {
  readonly view: CloudView;
  readonly viola: ViolaClient;
  /** Endpoints with certificate verification disabled by the CR. */
  readonly unverified: readonly string[];
}

/** Connects to the cloud and to the business cluster with the CR's credentials. Throws StepFailure. */
export async function connect(
  { object, config, source, isForced, freshness }: SyncContext,
  deps: ConnectionDeps,
  signal: AbortSignal,
): Promise<Connections> {
  const key = keyOf(source);
  const { identity, broker, unverified } = await loginOf(config, source.namespace, deps, signal);
  deps.notifications.join(key, broker);
  deps.brokerSecrets.keep(source, broker);
  // A repeated reconcile-at value starts no new login.
  const request = isForced ? `${key} ${reconcileAtOf(object)}` : '';
  const view = deps.views.of(deps.clouds.get(identity, request), key, !isPinned(config.servers));
  const viola = await deps.violas.of(config.viola, config.providerId, source);
  deps.cloudAges.begin(key, view.cloud.name);
  if (freshness.cacheSince !== undefined) view.cloud.freshen(freshness.cacheSince);
  return { view, viola, unverified };
}
