import type { ControllerFixture } from '../../fixtures/controller.ts';
import type { FaultyCluster } from './world.ts';

/**
 * What is left in the cluster and on the hosts when a plan is over, without times and without what counts tries; a node that was
 * looked at and is as it was made is one that nobody had a reason to look at.
 */
export function endStateOf(world: FaultyCluster, bed: ControllerFixture): string {
  const objects = world.configs().map(({ metadata, spec, status }) => ({
    name: metadata.name,
    leaving: metadata.deletionTimestamp !== undefined,
    finalizers: metadata.finalizers,
    spec,
    current: status?.observedGeneration === metadata.generation,
    state: status?.state,
    conditions: status?.conditions
      ?.filter(({ type, status: is }) => type !== 'Drifted' || is !== 'False')
      .map(({ type, status: is, reason, message }) => [type, is, reason, message].join(' ')),
    interfaces: status?.interfaceStatuses?.map((one) =>
      Object.entries(one)
        .filter(([field]) => !/time|last|updated/i.test(field))
        .map(([field, value]) => `${field}=${JSON.stringify(value)}`)
        .join(' '),
    ),
  }));
  const hosts = [...world.hosts.values()].map(({ name, nics }) => ({ name, nics }));
  const open = bed
    .jobs()
    .filter(({ status }) => !status?.conditions?.some((one) => one.status === 'True'))
    .map(({ metadata }) => metadata.name);
  return JSON.stringify({ objects, hosts, open }, undefined, 1);
}
