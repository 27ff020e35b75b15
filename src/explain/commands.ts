import { annotations, namespaces } from '../api/names.ts';
import type { OpenstackConfig } from '../api/openstackconfig.ts';

/** Returns a word that a shell takes as it is: names of OpenStack may hold any character. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

function command(...words: readonly string[]): string {
  return words.map(shellWord).join(' ');
}

/** Parts of `namespace/name`. */
function partsOf(config: string): readonly [namespace: string, name: string] {
  const [namespace = '', name = ''] = config.split('/');
  return [namespace, name];
}

/** Returns a merge patch of an OpenstackConfig. */
export function patchConfig(config: string, patch: unknown): string {
  const [namespace, name] = partsOf(config);
  const text = JSON.stringify(patch);
  return command('kubectl', '-n', namespace, 'patch', 'osc', name, '--type', 'merge', '-p', text);
}

/** Returns a command that adds a value to a list in the spec, whatever else the list holds. */
export function addToList(config: string, field: 'subnetIDs' | 'vmNames', value: string): string {
  const [namespace, name] = partsOf(config);
  const text = JSON.stringify([{ op: 'add', path: `/spec/${field}/-`, value }]);
  return command('kubectl', '-n', namespace, 'patch', 'osc', name, '--type', 'json', '-p', text);
}

/** Returns a command that removes the annotation `multinic.io/paused`. */
export function unpause(config: string): string {
  const [namespace, name] = partsOf(config);
  return command('kubectl', '-n', namespace, 'annotate', 'osc', name, `${annotations.paused}-`);
}

/** Returns a command that approves the removals of an OpenstackConfig. */
export function allowRemovals(config: string): string {
  const [namespace, name] = partsOf(config);
  const annotate = command('kubectl', '-n', namespace, 'annotate', 'osc', name, '--overwrite');
  return `${annotate} ${annotations.allowRemovals}="$(date -Is)"`;
}

/** Returns a command of the plugin. */
export function multinic(...words: readonly string[]): string {
  return command('kubectl', 'multinic', ...words);
}

/** Returns a command of the OpenStack CLI. */
export function openstack(...words: readonly string[]): string {
  return command('openstack', ...words);
}

/** Returns a command for a shell on the node. */
export function onNode(...words: readonly string[]): string {
  return command(...words);
}

/** Lists the systemUUID of each Node; runs in the business cluster. */
export const listSystemUuids =
  'kubectl get nodes -o custom-columns=NAME:.metadata.name,UUID:.status.nodeInfo.systemUUID';

/** Lists quotas in the namespace of the agent Jobs; runs in the business cluster. */
export const listQuotas = command('kubectl', '-n', namespaces.agents, 'get', 'resourcequota');

/** Returns the logs of an agent Job; runs in the business cluster. */
export function jobLogs(job: string): string {
  return command('kubectl', '-n', namespaces.agents, 'logs', `job/${job}`);
}

/** Returns an object's `namespace/name`. */
export function keyOf({ metadata: { namespace = '', name } }: OpenstackConfig): string {
  return `${namespace}/${name}`;
}
