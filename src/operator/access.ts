import type { KubeClient } from '../kube/client/client.ts';
import { keyOf } from '../kube/object.ts';
import type { Clouds } from '../openstack/clouds.ts';
import type { ViolaClient } from './deliver/viola-client.ts';
import type { Violas } from './deliver/violas.ts';
import { type Authorities, cloudOf } from './observe/cloud-access.ts';
import type { CloudView, CloudViews } from './observe/cloud-views.ts';
import { encryptKeyOf } from './resolve/encrypt-key.ts';
import type { OperatorSettings } from './settings.ts';
import type { Wish } from './wish.ts';

export interface AccessDeps {
  readonly client: Pick<KubeClient, 'find'>;
  readonly settings: OperatorSettings;
  readonly authorities: Authorities;
  readonly clouds: Clouds;
  readonly views: CloudViews;
  readonly violas: Violas;
}

/** Both ends of a sync. */
export interface Access {
  readonly view: CloudView;
  readonly viola: ViolaClient;
}

/** From the key of Contrabass to the cloud, and the business cluster. Throws StepFailure. */
export async function access(
  { config, source, asked }: Wish,
  deps: AccessDeps,
  signal: AbortSignal,
): Promise<Access> {
  const { client, settings, violas, views } = deps;
  const keys = { client, operatorKey: settings.contrabassEncryptKey };
  const key = await encryptKeyOf(config, source.namespace, keys, signal);
  const allowed = { ...deps, asked, allowedEndpoints: settings.allowedEndpoints };
  const cloud = await cloudOf(config, key, allowed, signal);
  return {
    view: views.of(cloud, keyOf(source)),
    viola: await violas.of(config.viola, config.providerId),
  };
}
