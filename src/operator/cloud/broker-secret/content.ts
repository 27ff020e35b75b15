import type { Secret } from '../../../kube/core-resources.ts';
import { apiVersionOf } from '../../../kube/resource.ts';
import type { Broker } from '../../../openstack/contrabass.ts';
import type { Owner } from '../../../plan/plan.ts';
import { openstackConfigs } from '../../model/openstack-config.ts';

/** A broker Secret's content, as text by key. */
export type Content = Readonly<
  Record<'RABBITMQ_URLS' | 'RABBITMQ_USER' | 'RABBITMQ_PASSWORD', string>
>;

/** Returns the Secret's content; undefined: the broker data lacks hosts, user or password. */
export function contentOf(broker: Broker | undefined): Content | undefined {
  const { hosts = [], username, password } = broker ?? {};
  if (hosts.length === 0 || !username || !password) return undefined;
  return {
    RABBITMQ_URLS: hosts.join(','),
    RABBITMQ_USER: username,
    RABBITMQ_PASSWORD: password,
  };
}

/** Returns the name used by earlier generations. A Kubernetes name ends in a letter or digit, even when cut. */
export function secretName(config: string): string {
  return `rabbitmq-${config}`.slice(0, 253).replace(/[.-]+$/, '');
}

export function encoded(content: Content): Record<string, string> {
  const entries = Object.entries(content);
  return Object.fromEntries(
    entries.map(([key, text]) => [key, Buffer.from(text).toString('base64')]),
  );
}

/** Returns whether the Secret needs no write; foreign keys stay. */
export function holds({ data = {} }: Secret, content: Content): boolean {
  return Object.entries(encoded(content)).every(([key, value]) => data[key] === value);
}

/**
 * Returns a Secret's ownership: `ours`, a `leftover` of a former OpenstackConfig with this name (Kubernetes collects
 * the Secret), or `foreign`. Only the uid counts, because any user can write names and labels.
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
