import { describe, expect, it } from 'vitest';
import { readSettings, SettingsError } from '../../../process/settings.ts';
import { operatorSettings } from './operator.ts';

/** Names used by the legacy operator and by earlier documents. */
const names = [
  'CONTRABASS_ENDPOINT',
  'CONTRABASS_ENCRYPT_KEY',
  'CONTRABASS_TIMEOUT',
  'CONTRABASS_INSECURE_TLS',
  'VIOLA_ENDPOINT',
  'VIOLA_TIMEOUT',
  'VIOLA_INSECURE_TLS',
  'VIOLA_TOKEN_FILE',
  'OPENSTACK_TIMEOUT',
  'OPENSTACK_INSECURE_TLS',
  'OPENSTACK_NEUTRON_ENDPOINT',
  'OPENSTACK_NOVA_ENDPOINT',
  'OPENSTACK_ENDPOINT_INTERFACE',
  'OPENSTACK_ENDPOINT_REGION',
  'OPENSTACK_NODE_NAME_METADATA_KEY',
  'OPENSTACK_PORT_ALLOWED_STATUSES',
  'DOWN_PORT_FAST_RETRY_MAX',
  'POLL_FAST_INTERVAL',
  'POLL_SLOW_INTERVAL',
  'POLL_ERROR_INTERVAL',
  'POLL_FAST_WINDOW',
  'INVENTORY_DB_PATH',
  'DB_HOST',
  'DB_PORT',
  'DB_USER',
  'DB_PASSWORD',
  'DB_NAME',
  'KUBECONFIG',
];

function allowing(text: string) {
  return readSettings(operatorSettings, { env: { ALLOWED_ENDPOINTS: text }, flags: {} });
}

function mapping(text: string) {
  return readSettings(operatorSettings, { env: { NAMESPACE_CLUSTERS: text }, flags: {} });
}

function confirming(text: string) {
  return readSettings(operatorSettings, { env: { LEGACY_VIOLA_PROVIDERS: text }, flags: {} });
}

describe("the operator's settings", () => {
  it("the operator's settings include every environment name in use", () => {
    const known = Object.values(operatorSettings).flatMap(({ env }) => env);
    expect(known).toEqual(expect.arrayContaining(names));
  });

  it("the operator's settings are all optional: an OpenstackConfig may contain everything", () => {
    expect(() => readSettings(operatorSettings, { env: {}, flags: {} })).not.toThrow();
  });

  it.each([
    'viola.example.com',
    'https://me:secret@viola.example.com',
    'https://viola.example.com/v1',
    '*.example.com',
  ])('ALLOWED_ENDPOINTS rejects an invalid origin such as %s', (text) => {
    const usable = 'https://*.example.com,http://127.0.0.1:*/,*';
    expect(allowing(usable).allowedEndpoints).toHaveLength(3);
    expect(() => allowing(`${usable},${text}`)).toThrow('must be origins such as');
  });

  it('LEGACY_VIOLA_PROVIDERS rejects *', () => {
    expect(confirming(' biz-1, biz-2 ,').legacyViolaProviders).toEqual(['biz-1', 'biz-2']);
    expect(() => confirming('biz-1,*')).toThrow('must list each provider id; * is not allowed');
  });

  it.each(['team-a', 'team-a=', '=prod', 'Team A=prod', 'team-a = prod'])(
    'NAMESPACE_CLUSTERS rejects the entry %s by name',
    (entry) => {
      const usable = 'team-a=prod-*, team-a=dev,team-*=*,*=lab';
      expect(mapping(usable).namespaceClusters).toHaveLength(4);
      expect(() => mapping(`${usable},${entry}`)).toThrow(`"${entry}"`);
    },
  );

  it('a settings error names every invalid setting, and no secret', () => {
    const env = {
      CONTRABASS_TIMEOUT: '0s',
      POLL_FAST_INTERVAL: '10ms',
      OPENSTACK_ENDPOINT_INTERFACE: 'x',
      DB_PASSWORD: 'secret-word',
      VIOLA_ENDPOINT: 'viola',
    };
    const read = () => readSettings(operatorSettings, { env, flags: {} });
    expect(read).toThrow(SettingsError);
    expect(read).toThrow(/CONTRABASS_TIMEOUT[^]*VIOLA_ENDPOINT[^]*INTERFACE[^]*POLL_FAST_INTERVAL/);
    expect(read).not.toThrow(/secret-word/);
  });
});
