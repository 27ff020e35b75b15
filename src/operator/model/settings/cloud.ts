import * as z from 'zod';
import {
  boolean,
  duration,
  nonBlank,
  oneOf,
  proxyUrl,
  url,
} from '../../../process/setting-schemas.ts';
import { type Settings, setting } from '../../../process/settings.ts';
import { isException } from '../../../requests/proxies.ts';
import { textList } from '../../text-list.ts';
import { defaultEndpointSettings } from './endpoints.ts';

const timeout = () => duration().prefault('30s');

/** Contrabass settings: endpoint, encrypt key, timeout and TLS. */
export const contrabassSettings = {
  contrabassEndpoint: setting({
    env: ['CONTRABASS_ENDPOINT'],
    flag: 'contrabass-endpoint',
    schema: url().optional(),
    description:
      'Base URL of Contrabass. Without it, OpenstackConfigs that need Contrabass and name none get the reason ConfigError.',
  }),
  contrabassEncryptKey: setting({
    env: ['CONTRABASS_ENCRYPT_KEY'],
    flag: 'contrabass-encrypt-key',
    schema: nonBlank().optional(),
    description:
      'Key that decrypts the passwords of Contrabass: 16, 24 or 32 bytes. With a wrong key no password is readable, and syncs fail.',
    secret: true,
  }),
  contrabassTimeout: setting({
    env: ['CONTRABASS_TIMEOUT'],
    flag: 'contrabass-timeout',
    schema: timeout(),
    description:
      'Timeout of a call to Contrabass (duration, at most 5m; longer counts as 5m). If it is too short, syncs fail and are retried.',
  }),
  contrabassInsecureTls: setting({
    env: ['CONTRABASS_INSECURE_TLS'],
    flag: 'contrabass-insecure-tls',
    schema: boolean().prefault('false'),
    description:
      'true: do not verify the certificate of Contrabass. An attacker on the network path can then read its passwords.',
  }),
  contrabassCaFile: setting({
    env: ['CONTRABASS_CA_FILE'],
    flag: 'contrabass-ca-file',
    schema: nonBlank().optional(),
    description:
      'PEM bundle that verifies the certificate of Contrabass, instead of the authorities of Node.js; read again at each use. If it is missing at the start, the operator exits.',
  }),
} satisfies Settings;

/** Settings for Keystone, Neutron and Nova, and for the selection of ports. */
export const openstackSettings = {
  openstackTimeout: setting({
    env: ['OPENSTACK_TIMEOUT'],
    flag: 'openstack-timeout',
    schema: timeout(),
    description:
      'Timeout of a call to Keystone, Neutron or Nova (duration, at most 5m; longer counts as 5m). If it is too short, syncs fail and are retried.',
  }),
  openstackInsecureTls: setting({
    env: ['OPENSTACK_INSECURE_TLS'],
    flag: 'openstack-insecure-tls',
    schema: boolean().prefault('false'),
    description:
      'true: do not verify certificates of OpenStack. An attacker on the network path can then read tokens and passwords.',
  }),
  openstackCaFile: setting({
    env: ['OPENSTACK_CA_FILE'],
    flag: 'openstack-ca-file',
    schema: nonBlank().optional(),
    description:
      'PEM bundle that verifies certificates of OpenStack, instead of the authorities of Node.js; read again at each use. If it is missing at the start, the operator exits.',
  }),
  openstackNeutronEndpoint: setting({
    env: ['OPENSTACK_NEUTRON_ENDPOINT'],
    flag: 'openstack-neutron-endpoint',
    schema: url().optional(),
    description:
      'Neutron URL for all clouds, instead of the one in the catalog. With several clouds, syncs read the wrong cloud.',
  }),
  openstackNovaEndpoint: setting({
    env: ['OPENSTACK_NOVA_ENDPOINT'],
    flag: 'openstack-nova-endpoint',
    schema: url().optional(),
    description:
      'Nova URL for all clouds, instead of the one in the catalog. With several clouds, syncs read the wrong cloud.',
  }),
  ...defaultEndpointSettings,
  openstackEndpointInterface: setting({
    env: ['OPENSTACK_ENDPOINT_INTERFACE'],
    flag: 'openstack-endpoint-interface',
    schema: oneOf(['public', 'internal', 'admin']).prefault('public'),
    description:
      'Interface of the catalog: public, internal or admin. If the operator cannot reach that interface, syncs fail.',
  }),
  openstackEndpointRegion: setting({
    env: ['OPENSTACK_ENDPOINT_REGION'],
    flag: 'openstack-endpoint-region',
    schema: nonBlank().optional(),
    description:
      'Region of the catalog. Without it, the operator takes the only region that has Neutron and Nova; with several, syncs fail.',
  }),
  openstackNodeNameMetadataKey: setting({
    env: ['OPENSTACK_NODE_NAME_METADATA_KEY'],
    flag: 'openstack-node-name-metadata-key',
    schema: nonBlank().optional(),
    description:
      'Metadata key of a server that holds the name of its Kubernetes node. Without it, the name of the server is the name of the node; with a wrong name no node is found.',
  }),
  openstackPortAllowedStatuses: setting({
    env: ['OPENSTACK_PORT_ALLOWED_STATUSES'],
    flag: 'openstack-port-allowed-statuses',
    schema: z
      .string()
      .transform((text) => text.split(','))
      .prefault('ACTIVE,DOWN'),
    description:
      'Statuses of ports that become NICs (comma-separated); * stands for all. Ports of other statuses are not delivered.',
  }),
} satisfies Settings;

/** Settings for proxies to Contrabass and OpenStack. */
export const proxySettings = {
  httpsProxy: setting({
    env: ['HTTPS_PROXY', 'https_proxy'],
    flag: 'https-proxy',
    schema: proxyUrl().optional(),
    description:
      'Proxy for https URLs of Contrabass and OpenStack. Keep the password out of the URL: set --proxy-credentials, which a chart reads from a Secret.',
  }),
  httpProxy: setting({
    env: ['HTTP_PROXY', 'http_proxy'],
    flag: 'http-proxy',
    schema: proxyUrl().optional(),
    description:
      'Proxy for http URLs of Contrabass and OpenStack. Keep the password out of the URL: set --proxy-credentials, which a chart reads from a Secret.',
  }),
  proxyCredentials: setting({
    env: ['PROXY_CREDENTIALS'],
    flag: 'proxy-credentials',
    schema: nonBlank().optional(),
    description:
      'user:password for proxies whose URL names no user. With wrong ones the proxy answers 407, and syncs fail.',
    secret: true,
  }),
  noProxy: setting({
    env: ['NO_PROXY', 'no_proxy'],
    flag: 'no-proxy',
    schema: textList()
      .refine(
        (all) => all.every(isException),
        'must be hosts, domains, addresses or networks such as .example.com,10.0.0.0/8, separated by commas',
      )
      .prefault(''),
    description:
      'Hosts, domains, addresses and networks that the operator reaches without a proxy (comma-separated). Loopback, .svc and .cluster.local never need an entry.',
  }),
} satisfies Settings;
