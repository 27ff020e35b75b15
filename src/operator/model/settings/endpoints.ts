import { url } from '../../../process/setting-schemas.ts';
import { type Settings, setting } from '../../../process/settings.ts';

/** Default endpoints for direct credentials; other forms of credentials never use these defaults. */
export const defaultEndpointSettings = {
  openstackDefaultAuthUrl: setting({
    env: ['OPENSTACK_DEFAULT_AUTH_URL'],
    flag: 'openstack-default-auth-url',
    schema: url().optional(),
    description:
      'Keystone URL of OpenstackConfigs with direct credentials that name none. Without it, they get the reason ConfigError.',
  }),
  openstackDefaultNeutronEndpoint: setting({
    env: ['OPENSTACK_DEFAULT_NEUTRON_ENDPOINT'],
    flag: 'openstack-default-neutron-endpoint',
    schema: url().optional(),
    description:
      'Neutron URL of OpenstackConfigs with direct credentials that name none and use the Keystone of --openstack-default-auth-url. Without it, the one in the catalog.',
  }),
  openstackDefaultNovaEndpoint: setting({
    env: ['OPENSTACK_DEFAULT_NOVA_ENDPOINT'],
    flag: 'openstack-default-nova-endpoint',
    schema: url().optional(),
    description:
      'Nova URL of OpenstackConfigs with direct credentials that name none and use the Keystone of --openstack-default-auth-url. Without it, the one in the catalog.',
  }),
} satisfies Settings;
