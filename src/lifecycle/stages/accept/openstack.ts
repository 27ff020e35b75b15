import type { MultiNicOperatorSpec } from '../../../api/multinicoperator.ts';
import type { Problem } from '../../model/accepted.ts';
import { unusable, unusableSecret } from './checked.ts';

type Openstack = NonNullable<MultiNicOperatorSpec['openstack']>;

/** Operator settings by field; used with direct credentials only. */
const variables: Readonly<Record<keyof Openstack, string>> = {
  identityEndpoint: 'OPENSTACK_DEFAULT_AUTH_URL',
  networkEndpoint: 'OPENSTACK_DEFAULT_NEUTRON_ENDPOINT',
  computeEndpoint: 'OPENSTACK_DEFAULT_NOVA_ENDPOINT',
};

/** Converts the default endpoints to operator environment variables. */
export function readOpenstackDefaults(openstack: Openstack, field: string) {
  const given = Object.entries(variables).flatMap(([name, variable]) => {
    const url = openstack[name as keyof Openstack];
    return url === undefined ? [] : [{ name, variable, url }];
  });
  return {
    value: Object.fromEntries(given.map(({ variable, url }) => [variable, url])),
    problems: given.flatMap(({ name, url }) => urlProblems(`${field}.${name}`, url)),
  };
}

function urlProblems(field: string, text: string): Problem[] {
  const url = URL.parse(text);
  if (url && (url.username !== '' || url.password !== '')) {
    return [unusableSecret(field, 'contains a user or password; write the URL without them')];
  }
  if (url && /^https?:$/.test(url.protocol) && !/\s/.test(text)) return [];
  return [unusable(field, text, 'is not a URL; write one such as https://keystone:5000/v3')];
}
