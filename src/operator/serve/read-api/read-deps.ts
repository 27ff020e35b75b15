import type { Store as ObjectStore } from '../../../kube/cache/store.ts';
import type { Clouds } from '../../../openstack/clouds.ts';
import type { Clock } from '../../../time/clock.ts';
import type { AccountDeps } from '../../cloud/credentials/account.ts';
import type { Violas } from '../../clusters/deliver/violas.ts';
import type { Triggers } from '../../flow/triggers/triggers.ts';
import type { ManagementCluster } from '../../management-cluster.ts';
import type { ConfigMemories } from '../../model/memory/config-memory.ts';
import type { ConfigObject } from '../../model/openstack-config.ts';

/** Input for the read API: sync results, and accounts for direct reads. */
export interface ReadDeps extends AccountDeps {
  readonly configs: Pick<ObjectStore<ConfigObject>, 'get' | 'list'>;
  readonly memories: Pick<ConfigMemories, 'find'>;
  readonly triggers: Pick<Triggers, 'mode'>;
  readonly management: Pick<ManagementCluster, 'owner'>;
  readonly clouds: Pick<Clouds, 'get' | 'provider'>;
  readonly violas: Pick<Violas, 'of' | 'clusters'>;
  readonly clock: Clock;
}
