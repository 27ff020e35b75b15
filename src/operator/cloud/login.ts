import { keyOf } from '../../kube/object.ts';
import type { Cloud } from '../../openstack/cloud.ts';
import type { Clouds } from '../../openstack/clouds.ts';
import type { Broker } from '../../openstack/contrabass.ts';
import { reconcileAtOf } from '../model/openstack-config.ts';
import type { PlanContext } from '../model/sync-context.ts';
import type { BrokerSecrets } from './broker-secret/broker-secrets.ts';
import type { CloudAges } from './cloud-age.ts';
import type { AccountDeps } from './credentials/account.ts';
import { loginOf } from './credentials/identity.ts';
import type { Notifications } from './notifications/notifications.ts';
import type { CloudView, CloudViews } from './observe/cloud-view.ts';
import { isPinned } from './observe/servers.ts';

export interface LoginDeps extends AccountDeps {
  readonly clouds: Pick<Clouds, 'get' | 'provider'>;
}

/** Cloud of a sync or what-if. */
export interface CloudLogin {
  readonly cloud: Cloud;
  readonly broker: Broker | undefined;
  /** Endpoints with certificate verification disabled by the CR. */
  readonly unverified: readonly string[];
}

/** Finds the cloud with the CR's credentials. Throws StepFailure. */
export async function logIn(
  { object, config, source, isForced, freshness }: PlanContext,
  deps: LoginDeps,
  signal: AbortSignal,
): Promise<CloudLogin> {
  const { identity, broker, unverified } = await loginOf(config, source.namespace, deps, signal);
  // A repeated reconcile-at value starts no new login.
  const request = isForced ? `${keyOf(source)} ${reconcileAtOf(object)}` : '';
  const cloud = deps.clouds.get(identity, request);
  if (freshness.cacheSince !== undefined) cloud.freshen(freshness.cacheSince);
  return { cloud, broker, unverified };
}

export interface JoinDeps {
  readonly views: Pick<CloudViews, 'of'>;
  readonly cloudAges: Pick<CloudAges, 'begin'>;
  readonly notifications: Pick<Notifications, 'join' | 'leave'>;
  readonly brokerSecrets: Pick<BrokerSecrets, 'keep'>;
}

/** Joins the shared view, message queue and queue Secret. Returns the view. */
export function joinCloud(
  { config, source }: PlanContext,
  { cloud, broker }: CloudLogin,
  deps: JoinDeps,
): CloudView {
  const key = keyOf(source);
  deps.notifications.join(key, broker);
  deps.brokerSecrets.keep(source, broker);
  deps.cloudAges.begin(key, cloud.name);
  return deps.views.of(cloud, key, !isPinned(config.servers));
}
