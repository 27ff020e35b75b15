import { expect, it } from 'vitest';
import { stringify } from 'yaml';
import { readSettings } from '../../../process/settings.ts';
import { resolveConfig } from '../../model/resolve/resolve.ts';
import { operatorSettings } from '../../model/settings/operator.ts';
import { environment, spec } from '../../testing/scene.ts';
import { loginOf } from './identity.ts';

const own = '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n';
const auth = {
  auth_url: 'https://keystone.test',
  application_credential_id: 'c1',
  application_credential_secret: 'secret-word',
};

it.each([
  ["the Secret's authorities, before the operator's", { cacert: 'ca' }, own],
  ["the operator's authorities, when the Secret has none", {}, 'of the operator'],
])("a cloud's certificate authorities are %s", async (_which, more, ca) => {
  const settings = readSettings(operatorSettings, { env: environment, flags: {} });
  const credentials = { k8sProviderID: 'biz-1', secretRef: { name: 'clouds' } };
  const metadata = { namespace: 'multinic-system', name: 'osc' };
  const resolution = resolveConfig({ metadata, spec: { ...spec, credentials } }, settings);
  if (resolution.kind === 'refused') throw new Error('the sample is refused');
  const values = { 'clouds.yaml': stringify({ clouds: { mine: { auth, ...more } } }), ca: own };
  const data = Object.fromEntries(
    Object.entries(values).map(([key, text]) => [key, Buffer.from(text).toString('base64')]),
  );
  const deps = {
    client: { find: async () => ({ metadata: { name: 'clouds' }, data }) as never },
    settings,
    authorities: {
      contrabass: async () => 'of Contrabass',
      openstack: async () => 'of the operator',
    },
    clouds: { provider: async () => Promise.reject(new Error('nobody is asked')) },
  };
  const signal = new AbortController().signal;
  const { identity } = await loginOf(resolution.config, 'multinic-system', deps, signal);
  expect(identity.tls).toEqual({ insecure: false, ca });
});
