import * as z from 'zod';
import { namespaces } from '../api/names.ts';
import {
  address,
  boolean,
  duration,
  integer,
  nonBlank,
  proxyUrl,
  url,
} from '../process/setting-schemas.ts';
import { type Settings, setting, type Values } from '../process/settings.ts';
import { isException } from '../requests/proxies.ts';
import { brokerSecretSettings } from './broker-secret/settings.ts';
import { violaSettings } from './deliver/settings.ts';
import { notificationSettings } from './notifications/settings.ts';
import { defaultEndpointSettings } from './resolve/settings.ts';
import { type Polling, shortestPollMs } from './schedule/poll-interval.ts';
import { triggerSettings } from './triggers/settings.ts';

const list = () =>
  z
    .string()
    .default('')
    .transform((text) => text.split(',').flatMap((item) => item.trim() || []));
const timeout = () => z.string().default('30s').pipe(duration());
const poll = (text: string) =>
  z
    .string()
    .default(text)
    .pipe(duration({ minMs: shortestPollMs }));
const flag = (text: 'true' | 'false') => z.string().default(text).pipe(boolean());

/** Origins, or `*`. Without this check an invalid origin would silently match nothing. */
const origins = () =>
  list().refine(
    (all) => all.every((one) => one === '*' || /^https?:\/\/[^/@?#\s]+\/?$/i.test(one)),
    'must be origins such as https://*.example.com, separated by commas, without user, path or query; or *',
  );

/**
 * Settings for `multinic operator`; an OpenstackConfig overrides settings with its own fields. Setting names
 * from all generations are supported.
 */
export const operatorSettings = {
  kubeconfig: setting({
    env: ['KUBECONFIG'],
    flag: 'kubeconfig',
    schema: nonBlank().optional(),
    description: 'kubeconfig of the management cluster; default: the ServiceAccount of the Pod',
  }),
  namespace: setting({
    env: ['POD_NAMESPACE'],
    flag: 'namespace',
    schema: nonBlank().default(namespaces.system),
    description: 'namespace of the lease, and of the Secrets of the access to Viola',
  }),
  watchNamespace: setting({
    env: ['WATCH_NAMESPACE'],
    flag: 'watch-namespace',
    schema: nonBlank().optional(),
    description: 'only OpenstackConfigs of this namespace; default: of all namespaces',
  }),
  secretNamespaces: setting({
    env: ['SECRET_NAMESPACES'],
    flag: 'secret-namespaces',
    schema: list(),
    description:
      'namespaces in which Secrets of OpenstackConfigs may be read, separated by commas; the operator makes sure that it may; default: the watched one, or multinic-system',
  }),
  identity: setting({
    env: ['POD_NAME', 'HOSTNAME'],
    flag: 'identity',
    schema: nonBlank().default('operator'),
    description: 'name of this process in the lease',
  }),
  leaseDurationMs: setting({
    env: ['LEASE_DURATION'],
    flag: 'lease-duration',
    schema: z
      .string()
      .default('15s')
      .pipe(duration({ minMs: 1_000 })),
    description: 'how long a leader that is gone keeps others waiting; at least 1s',
  }),
  listen: setting({
    env: ['HEALTH_ADDR'],
    flag: 'health-probe-bind-address',
    schema: z.string().default(':8082').pipe(address()),
    description: 'address of /healthz, /readyz and /metrics, default :8082',
  }),
  workers: setting({
    env: ['OPERATOR_WORKERS'],
    flag: 'workers',
    schema: z.string().default('8').pipe(integer(1, 64)),
    description:
      'OpenstackConfigs that are worked on at once, beside those that wait for a slow answer',
  }),
  allowedEndpoints: setting({
    env: ['ALLOWED_ENDPOINTS'],
    flag: 'allowed-endpoints',
    schema: origins(),
    description:
      "origins that an OpenstackConfig may name, and the Contrabass that it chose and the catalog of its cloud, such as https://*.example.com, separated by commas; default: any, but none of them gets a secret of the operator; what the operator's own Contrabass and the catalogs of its clouds name is called, http or not, but for loopback, link-local and metadata addresses, which have to be listed, such as http://127.0.0.1:*",
  }),
  insecureTlsEndpoints: setting({
    env: ['INSECURE_TLS_ENDPOINTS'],
    flag: 'insecure-tls-endpoints',
    schema: origins(),
    description:
      'origins at which an OpenstackConfig, or the clouds.yaml of its Secret, may have certificates not verified, such as https://*.example.com, separated by commas; * is everywhere; default: none',
  }),
  allowedProviders: setting({
    env: ['ALLOWED_PROVIDERS'],
    flag: 'allowed-providers',
    schema: list(),
    description:
      'openstackProviderIDs and k8sProviderIDs that an OpenstackConfig may name, separated by commas; default: any',
  }),
  allowedNamespaces: setting({
    env: ['ALLOWED_NAMESPACES'],
    flag: 'allowed-namespaces',
    schema: list(),
    description:
      'namespaces of which OpenstackConfigs are looked at, separated by commas; those of others are told so, keep their NICs, and give them back when they are deleted; default: all',
  }),
  defaultK8sProviderId: setting({
    env: ['DEFAULT_K8S_PROVIDER_ID'],
    flag: 'default-k8s-provider-id',
    schema: nonBlank().optional(),
    description:
      'business cluster of OpenstackConfigs that name neither k8sProviderID nor openstackProviderID',
  }),
  contrabassEndpoint: setting({
    env: ['CONTRABASS_ENDPOINT'],
    flag: 'contrabass-endpoint',
    schema: url().optional(),
    description: 'base URL of Contrabass',
  }),
  contrabassEncryptKey: setting({
    env: ['CONTRABASS_ENCRYPT_KEY'],
    flag: 'contrabass-encrypt-key',
    schema: nonBlank().optional(),
    description: 'key of the passwords that Contrabass hands out: 16, 24 or 32 bytes',
    secret: true,
  }),
  contrabassTimeout: setting({
    env: ['CONTRABASS_TIMEOUT'],
    flag: 'contrabass-timeout',
    schema: timeout(),
    description: 'timeout of a call to Contrabass; longer than 5m counts as 5m',
  }),
  contrabassInsecureTls: setting({
    env: ['CONTRABASS_INSECURE_TLS'],
    flag: 'contrabass-insecure-tls',
    schema: flag('false'),
    description: 'true: do not verify the certificate of Contrabass',
  }),
  contrabassCaFile: setting({
    env: ['CONTRABASS_CA_FILE'],
    flag: 'contrabass-ca-file',
    schema: nonBlank().optional(),
    description:
      'PEM bundle that the certificate of Contrabass is verified with; read again at each use',
  }),
  ...violaSettings,
  openstackTimeout: setting({
    env: ['OPENSTACK_TIMEOUT'],
    flag: 'openstack-timeout',
    schema: timeout(),
    description: 'timeout of a call to Keystone, Neutron or Nova; longer than 5m counts as 5m',
  }),
  openstackInsecureTls: setting({
    env: ['OPENSTACK_INSECURE_TLS'],
    flag: 'openstack-insecure-tls',
    schema: flag('false'),
    description: 'true: do not verify certificates of OpenStack',
  }),
  openstackCaFile: setting({
    env: ['OPENSTACK_CA_FILE'],
    flag: 'openstack-ca-file',
    schema: nonBlank().optional(),
    description:
      'PEM bundle that certificates of OpenStack are verified with; read again at each use',
  }),
  openstackNeutronEndpoint: setting({
    env: ['OPENSTACK_NEUTRON_ENDPOINT'],
    flag: 'openstack-neutron-endpoint',
    schema: url().optional(),
    description: 'Neutron URL, instead of the catalog',
  }),
  openstackNovaEndpoint: setting({
    env: ['OPENSTACK_NOVA_ENDPOINT'],
    flag: 'openstack-nova-endpoint',
    schema: url().optional(),
    description: 'Nova URL, instead of the catalog',
  }),
  ...defaultEndpointSettings,
  openstackEndpointInterface: setting({
    env: ['OPENSTACK_ENDPOINT_INTERFACE'],
    flag: 'openstack-endpoint-interface',
    schema: z
      .string()
      .default('public')
      .pipe(z.enum(['public', 'internal', 'admin'])),
    description: 'interface of the catalog: public, internal or admin',
  }),
  openstackEndpointRegion: setting({
    env: ['OPENSTACK_ENDPOINT_REGION'],
    flag: 'openstack-endpoint-region',
    schema: nonBlank().optional(),
    description: 'region of the catalog; default: the only one that has both Neutron and Nova',
  }),
  openstackNodeNameMetadataKey: setting({
    env: ['OPENSTACK_NODE_NAME_METADATA_KEY'],
    flag: 'openstack-node-name-metadata-key',
    schema: nonBlank().optional(),
    description: 'metadata key of a server that holds the name of its Kubernetes node',
  }),
  openstackPortAllowedStatuses: setting({
    env: ['OPENSTACK_PORT_ALLOWED_STATUSES'],
    flag: 'openstack-port-allowed-statuses',
    schema: z
      .string()
      .default('ACTIVE,DOWN')
      .transform((text) => text.split(',')),
    description: 'statuses of ports to deliver, separated by commas; * is all',
  }),
  downPortFastRetryMax: setting({
    env: ['DOWN_PORT_FAST_RETRY_MAX'],
    flag: 'down-port-fast-retry-max',
    schema: z.string().default('5').pipe(integer(1, 1_000)),
    description: 'fast looks at ports that are DOWN before polling is slow again',
  }),
  pollFastInterval: setting({
    env: ['POLL_FAST_INTERVAL'],
    flag: 'poll-fast-interval',
    schema: poll('20s'),
    description: 'poll interval after a change',
  }),
  pollSlowInterval: setting({
    env: ['POLL_SLOW_INTERVAL'],
    flag: 'poll-slow-interval',
    schema: poll('2m'),
    description: 'poll interval while nothing changes',
  }),
  pollErrorInterval: setting({
    env: ['POLL_ERROR_INTERVAL'],
    flag: 'poll-error-interval',
    schema: poll('30s'),
    description: 'first interval after a failure; it doubles up to 5 minutes',
  }),
  pollFastWindow: setting({
    env: ['POLL_FAST_WINDOW'],
    flag: 'poll-fast-window',
    schema: z
      .string()
      .default('3m')
      .pipe(duration({ minMs: 0 })),
    description: 'how long polling stays fast after a change; 0 switches it off',
  }),
  httpsProxy: setting({
    env: ['HTTPS_PROXY', 'https_proxy'],
    flag: 'https-proxy',
    schema: proxyUrl().optional(),
    description: 'proxy to Contrabass and OpenStack where their URLs begin with https',
  }),
  httpProxy: setting({
    env: ['HTTP_PROXY', 'http_proxy'],
    flag: 'http-proxy',
    schema: proxyUrl().optional(),
    description: 'proxy to Contrabass and OpenStack where their URLs begin with http',
  }),
  proxyCredentials: setting({
    env: ['PROXY_CREDENTIALS'],
    flag: 'proxy-credentials',
    schema: nonBlank().optional(),
    description: 'user:password for the proxies, when their URLs name nobody',
    secret: true,
  }),
  noProxy: setting({
    env: ['NO_PROXY', 'no_proxy'],
    flag: 'no-proxy',
    schema: list().refine(
      (all) => all.every(isException),
      'must be hosts, domains, addresses or networks such as .example.com,10.0.0.0/8, separated by commas',
    ),
    description:
      'hosts, domains, addresses and networks of Contrabass and OpenStack that are reached without a proxy, separated by commas; this machine, .svc and .cluster.local always are',
  }),
  ...notificationSettings,
  ...brokerSecretSettings,
  inventoryDbPath: setting({
    env: ['INVENTORY_DB_PATH'],
    flag: 'inventory-db-path',
    schema: nonBlank().default('/var/lib/multinic-operator/inventory.db'),
    description: 'SQLite file of the inventory',
  }),
  dbHost: setting({
    env: ['DB_HOST'],
    flag: 'db-host',
    schema: nonBlank().optional(),
    description: 'MariaDB host; keeps the inventory there instead of in SQLite',
  }),
  dbPort: setting({
    env: ['DB_PORT'],
    flag: 'db-port',
    schema: z.string().default('3306').pipe(integer(1, 65_535)),
    description: 'MariaDB port',
  }),
  dbUser: setting({
    env: ['DB_USER'],
    flag: 'db-user',
    schema: nonBlank().default('multinic'),
    description: 'MariaDB user',
  }),
  dbPassword: setting({
    env: ['DB_PASSWORD'],
    flag: 'db-password',
    schema: z.string().optional(),
    description: 'MariaDB password',
    secret: true,
  }),
  dbName: setting({
    env: ['DB_NAME'],
    flag: 'db-name',
    schema: nonBlank().default('multinic'),
    description: 'MariaDB database',
  }),
  dbTls: setting({
    env: ['DB_TLS'],
    flag: 'db-tls',
    schema: flag('false'),
    description:
      'true: use TLS to MariaDB and verify its certificate for DB_HOST; always with DB_CA_FILE',
  }),
  dbCaFile: setting({
    env: ['DB_CA_FILE'],
    flag: 'db-ca-file',
    schema: nonBlank().optional(),
    description:
      'PEM bundle that the certificate of MariaDB is verified with, default the authorities of the system; read again for new connections',
  }),
  ...triggerSettings,
} satisfies Settings;

export type OperatorSettings = Values<typeof operatorSettings>;

/** Returns the poll intervals for an OpenstackConfig without its own intervals. */
export function pollingOf(settings: OperatorSettings): Polling {
  const { pollFastInterval, pollSlowInterval, pollErrorInterval, pollFastWindow } = settings;
  return {
    fastMs: pollFastInterval,
    slowMs: Math.max(pollFastInterval, pollSlowInterval),
    errorMs: pollErrorInterval,
    windowMs: pollFastWindow,
  };
}
