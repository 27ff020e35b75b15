import { expect, it } from 'vitest';
import type { Provider } from '../../../openstack/contrabass.ts';
import { readSettings } from '../../../process/settings.ts';
import { systemAuthorities } from '../../../requests/ca-bundle.ts';
import { resolveConfig } from '../../model/resolve/resolve.ts';
import { operatorSettings } from '../../model/settings/operator.ts';
import { environment, spec } from '../../testing/scene.ts';
import { loginOf } from './identity.ts';

const provided: Provider = {
  keystoneUrl: 'https://keystone.test',
  username: 'admin',
  password: 'p',
  domainName: 'Default',
};

async function login(provider: Provider) {
  const settings = readSettings(operatorSettings, { env: environment, flags: {} });
  const resolution = resolveConfig(
    { metadata: { namespace: 'multinic-system', name: 'osc' }, spec },
    settings,
  );
  if (resolution.kind === 'refused') throw new Error('the sample is refused');
  const deps = {
    client: { find: async () => undefined },
    settings,
    authorities: { contrabass: systemAuthorities, openstack: systemAuthorities },
    clouds: { provider: async () => provider },
  };
  return loginOf(resolution.config, 'multinic-system', deps, new AbortController().signal);
}

it("Contrabass' broker is returned beside the cloud identity and does not change the identity", async () => {
  const rabbit = { username: 'r', password: 'secret', hosts: ['10.0.0.1:5672'] };
  const plain = await login(provided);
  const { identity, broker } = await login({ ...provided, rabbit });
  expect(broker).toEqual(rabbit);
  expect(plain.broker).toBeUndefined();
  expect(identity).toEqual(plain.identity);
});

it.each([
  [
    '169.254.169.254:80',
    '"169.254.169.254:80", which is a link-local address, and not in the operator\'s ALLOWED_ENDPOINTS',
  ],
  [
    '[fe80::1]:5672',
    '"[fe80::1]:5672", which is a link-local address, and not in the operator\'s ALLOWED_ENDPOINTS',
  ],
  ['10.0.0.1:5672', undefined],
])('a broker at %s is checked against ALLOWED_ENDPOINTS', async (host, denied) => {
  const rabbit = { username: 'r', password: 'secret', hosts: ['10.0.0.2', host] };
  const { broker } = await login({ ...provided, rabbit });
  expect(broker?.denied).toBe(denied);
});
