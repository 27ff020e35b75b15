import type { Secret } from '../../kube/core-resources.ts';
import { apiVersionOf } from '../../kube/resource.ts';
import type { Broker } from '../../openstack/contrabass.ts';
import type { Owner } from '../../plan/plan.ts';
import { openstackConfigs } from '../openstack-config.ts';

/** What the Secret of a broker holds, as text by key. */
export type Content = Readonly<
  Record<'RABBITMQ_URLS' | 'RABBITMQ_USER' | 'RABBITMQ_PASSWORD', string>
>;

/** What there is to be written of a broker; undefined = not everything that somebody who connects needs. */
export function contentOf(broker: Broker | undefined): Content | undefined {
  const { hosts = [], username, password } = broker ?? {};
  if (hosts.length === 0 || !username || !password) return undefined;
  return {
    RABBITMQ_URLS: hosts.join(','),
    RABBITMQ_USER: username,
    RABBITMQ_PASSWORD: password,
  };
}

/** As earlier generations name it; an object of Kubernetes ends in a letter or digit wherever it is cut. */
export function secretName(config: string): string {
  return `rabbitmq-${config}`.slice(0, 253).replace(/[.-]+$/, '');
}

export function encoded(content: Content): Record<string, string> {
  const entries = Object.entries(content);
  return Object.fromEntries(
    entries.map(([key, text]) => [key, Buffer.from(text).toString('base64')]),
  );
}

/** Whether nothing has to be written; keys of others are theirs. */
export function holds({ data = {} }: Secret, content: Content): boolean {
  return Object.entries(encoded(content)).every(([key, value]) => data[key] === value);
}

/**
 * Whose a Secret is: `ours`, a `leftover` of an OpenstackConfig of this name that is gone (Kubernetes collects it), or
 * `foreign`. Only the uid counts: names and labels can be written by everybody.
 */
export function whoseIs(
  { metadata: { ownerReferences = [] } }: Secret,
  { name, uid }: Owner,
): 'ours' | 'leftover' | 'foreign' {
  if (ownerReferences.some((owner) => owner.uid === uid)) return 'ours';
  const { kind } = openstackConfigs;
  const apiVersion = apiVersionOf(openstackConfigs);
  const ofName = ownerReferences.filter(
    (owner) => owner.kind === kind && owner.apiVersion === apiVersion && owner.name === name,
  );
  return ofName.length > 0 && ofName.length === ownerReferences.length ? 'leftover' : 'foreign';
}
