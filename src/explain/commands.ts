import { annotations, namespaces } from '../api/names.ts';
import type { OpenstackConfig } from '../api/openstackconfig.ts';

/** Quotes a word for a shell: OpenStack allows any character in names. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

function command(...words: readonly string[]): string {
  return words.map(shellWord).join(' ');
}

/** Splits `namespace/name`. */
function partsOf(config: string): readonly [namespace: string, name: string] {
  const [namespace = '', name = ''] = config.split('/');
  return [namespace, name];
}

/** Returns a merge patch for an OpenstackConfig. */
export function patchConfig(config: string, patch: unknown): string {
  const [namespace, name] = partsOf(config);
  const text = JSON.stringify(patch);
  return command('kubectl', '-n', namespace, 'patch', 'osc', name, '--type', 'merge', '-p', text);
}

/** Returns a command to append a value to a list in the spec; the existing values stay. */
export function addToList(config: string, field: 'subnetIDs' | 'vmNames', value: string): string {
  const [namespace, name] = partsOf(config);
  const text = JSON.stringify([{ op: 'add', path: `/spec/${field}/-`, value }]);
  return command('kubectl', '-n', namespace, 'patch', 'osc', name, '--type', 'json', '-p', text);
}

/** Returns a command to remove the annotation `multinic.io/paused`. */
export function unpause(config: string): string {
  const [namespace, name] = partsOf(config);
  return command('kubectl', '-n', namespace, 'annotate', 'osc', name, `${annotations.paused}-`);
}

/** Returns a command to consent to an OpenstackConfig's held removals. */
export function allowRemovals(config: string): string {
  return multinic('allow-removals', config);
}

/** Returns a kubectl plugin command. */
export function multinic(...words: readonly string[]): string {
  return command('kubectl', 'multinic', ...words);
}

/** Returns an OpenStack CLI command. */
export function openstack(...words: readonly string[]): string {
  return command('openstack', ...words);
}

/** Returns a command for a shell on the node. */
export function onNode(...words: readonly string[]): string {
  return command(...words);
}

/** Lists every Node's systemUUID; runs in the business cluster. */
export const listSystemUuids =
  'kubectl get nodes -o custom-columns=NAME:.metadata.name,UUID:.status.nodeInfo.systemUUID';

/** Lists quotas in the agent Jobs' namespace; runs in the business cluster. */
export const listQuotas = command('kubectl', '-n', namespaces.agents, 'get', 'resourcequota');

/** Returns a command for an agent Job's logs; runs in the business cluster. */
export function jobLogs(job: string): string {
  return command('kubectl', '-n', namespaces.agents, 'logs', `job/${job}`);
}

/** Returns an object's `namespace/name`. */
export function keyOf({ metadata: { namespace = '', name } }: OpenstackConfig): string {
  return `${namespace}/${name}`;
}
