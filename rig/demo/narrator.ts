import type { Condition } from '../../src/api/condition.ts';
import type { MultiNicNodeConfig } from '../../src/api/multinicnodeconfig.ts';
import { agentAppName, labels } from '../../src/api/names.ts';
import { createReflector } from '../../src/kube/cache/reflector.ts';
import { Store } from '../../src/kube/cache/store.ts';
import type { KubeClient } from '../../src/kube/client/client.ts';
import { jobs } from '../../src/kube/core-resources.ts';
import type { KubeObject } from '../../src/kube/object.ts';
import type { Resource } from '../../src/kube/resource.ts';
import { type Clock, systemRandom } from '../../src/time/clock.ts';
import { nodeConfigs, openstackConfigs } from '../chain/kinds.ts';
import type { Screen } from './screen.ts';

interface Narration {
  readonly management: KubeClient;
  readonly business: KubeClient;
  readonly screen: Screen;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** Prints each change in both clusters once, when it happens. */
export function narrate({ management, business, screen, clock, signal }: Narration): void {
  const told = new Map<string, string>();
  const tell = (who: string, key: string, what: string): void => {
    if (told.get(key) === what) return;
    told.set(key, what);
    screen.step(who, what);
  };
  const follow = <T extends KubeObject>(
    client: KubeClient,
    resource: Resource<T>,
    describe: (object: T | undefined, name: string) => void,
    labelSelector?: string,
  ): void => {
    const store = new Store<T>();
    store.subscribe(({ type, object }) =>
      describe(type === 'deleted' ? undefined : object, object.metadata.name),
    );
    const selection = labelSelector === undefined ? {} : { labelSelector };
    void createReflector({
      client,
      resource,
      store,
      clock,
      random: systemRandom,
      ...selection,
    }).run(signal);
  };

  follow(management, openstackConfigs, (config, name) => {
    const ready = conditionOf(config?.status?.conditions, 'Ready');
    if (!config) tell('operator', `osc ${name}`, `OpenstackConfig ${name} is gone`);
    else if (ready)
      tell('operator', `osc ${name}`, `${ready.reason ?? ''}: ${ready.message ?? ''}`);
  });
  follow(business, nodeConfigs, (config, name) => {
    if (!config) tell('viola', `spec ${name}`, `MultiNicNodeConfig ${name} is gone`);
    else describeNode(config, name, tell);
  });
  follow(
    business,
    jobs,
    (job, name) => {
      if (!job) return;
      const node = job.metadata.labels?.[labels.nodeName] ?? '';
      if (job.status?.succeeded) tell('agent', `end ${name}`, `done on ${node}`);
      else if (job.status?.active) tell('agent', `run ${name}`, `runs on ${node} (Job ${name})`);
    },
    `${labels.appName}=${agentAppName}`,
  );
}

function describeNode(
  { spec, status, metadata }: MultiNicNodeConfig,
  name: string,
  tell: (who: string, key: string, what: string) => void,
): void {
  const nics = (spec.interfaces ?? []).map((nic) => `${nic.name} ${nic.address}`);
  const shown = nics.length > 0 ? nics.join(', ') : 'no NICs';
  tell('viola', `spec ${name}`, `${name} generation ${metadata.generation}: ${shown}`);
  const states = (status?.interfaceStatuses ?? []).map((nic) => `${nic.name} ${nic.reason}`);
  if (states.length > 0) tell('controller', `status ${name}`, `${name}: ${states.join(', ')}`);
}

function conditionOf(list: readonly Condition[] | undefined, type: string): Condition | undefined {
  return list?.find((condition) => condition.type === type);
}
