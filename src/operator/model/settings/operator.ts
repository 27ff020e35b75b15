import { existingConfiguration } from '../../../api/found-configuration.ts';
import { namespaces } from '../../../api/names.ts';
import { address, duration, integer, nonBlank, oneOf } from '../../../process/setting-schemas.ts';
import { removedSetting, type Settings, setting, type Values } from '../../../process/settings.ts';
import { textList } from '../../text-list.ts';
import { type Polling, shortestPollMs } from '../polling.ts';
import { brokerSecretSettings } from './broker-secret.ts';
import { contrabassSettings, openstackSettings, proxySettings } from './cloud.ts';
import { notificationSettings } from './notifications.ts';
import { storeSettings } from './store.ts';
import { triggerSettings } from './triggers.ts';
import { violaSettings } from './viola.ts';

const poll = (text: string) => duration({ minMs: shortestPollMs }).prefault(text);

/** Origins, or `*`. Without this check an invalid origin would silently match nothing. */
const origins = () =>
  textList()
    .refine(
      (all) => all.every((one) => one === '*' || /^https?:\/\/[^/@?#\s]+\/?$/i.test(one)),
      'must be origins such as https://*.example.com, separated by commas, without user, path or query; or *',
    )
    .prefault('');

/** Entries NAMESPACE=CLUSTER; the error names the first entry of another form. */
const clustersOfNamespaces = () =>
  textList()
    .refine((all) => all.every(isNamespaceCluster), {
      error: ({ input }) => {
        const entry = (input as readonly string[]).find((one) => !isNamespaceCluster(one));
        return `"${entry}" is not NAMESPACE=CLUSTER, such as team-a=prod-*`;
      },
    })
    .prefault('');

/** A namespace is a DNS label, a business cluster any text without blanks; both may contain `*`. */
function isNamespaceCluster(text: string): boolean {
  return /^[a-z0-9*-]+=\S+$/.test(text);
}

/** Removed operator settings: accepted and ignored for one release. */
const removedSettings = {
  identity: removedSetting(
    'identity',
    [],
    'the environment variable POD_NAME names the process in the lease',
  ),
  workers: removedSetting('workers', ['OPERATOR_WORKERS'], 'the operator always has 8 workers'),
  notificationsVirtualHost: removedSetting(
    'openstack-notifications-vhost',
    ['OPENSTACK_NOTIFICATIONS_VHOST'],
    'the virtual host of notifications is always /; publish them there, or rely on polling',
  ),
} satisfies Settings;

/**
 * Settings for `multinic operator`; an OpenstackConfig overrides settings with its own fields. Setting names
 * from all generations are supported.
 */
export const operatorSettings = {
  kubeconfig: setting({
    env: ['KUBECONFIG'],
    flag: 'kubeconfig',
    schema: nonBlank().optional(),
    description:
      'Kubeconfig of the management cluster. Without it, the operator uses the ServiceAccount of its Pod, and exits outside of a Pod.',
  }),
  namespace: setting({
    env: ['POD_NAMESPACE'],
    flag: 'namespace',
    schema: nonBlank().prefault(namespaces.system),
    description:
      'Namespace of the lease and of the Secrets for the access to Viola. Two operators with different namespaces both lead and overwrite each other.',
  }),
  watchNamespace: setting({
    env: ['WATCH_NAMESPACE'],
    flag: 'watch-namespace',
    schema: nonBlank().optional(),
    description:
      'The only namespace whose OpenstackConfigs the operator reads. Without it, all namespaces; OpenstackConfigs elsewhere stay without a status.',
  }),
  secretNamespaces: setting({
    env: ['SECRET_NAMESPACES'],
    flag: 'secret-namespaces',
    schema: textList().prefault(''),
    description: `Namespaces in which the operator checks its right to read Secrets of OpenstackConfigs (comma-separated). Without it, the one of --watch-namespace, or ${namespaces.system}. If the right is missing, the operator reports RightsMissing.`,
  }),
  leaseDurationMs: setting({
    env: ['LEASE_DURATION'],
    flag: 'lease-duration',
    schema: duration({ minMs: 1_000 }).prefault('15s'),
    description:
      'Time after which another replica takes over from a leader that is gone (duration, at least 1s). If it is too short, a slow API server costs the leader its lease.',
  }),
  listen: setting({
    env: ['HEALTH_ADDR'],
    flag: 'health-probe-bind-address',
    schema: address().prefault(':8082'),
    description:
      'Address of /healthz, /readyz and /metrics. If the port is taken, the operator exits; on loopback no probe of the kubelet arrives.',
  }),
  allowedEndpoints: setting({
    env: ['ALLOWED_ENDPOINTS'],
    flag: 'allowed-endpoints',
    schema: origins(),
    description:
      "Origins that OpenstackConfigs, the Contrabass they name and the catalogs of their clouds may lead to, such as https://*.example.com (comma-separated). Without it, any origin is called but none gets a secret of the operator. Loopback, link-local and metadata addresses always need an entry, such as http://127.0.0.1:*. The operator's own Contrabass and the catalogs of its clouds need none. Other origins get the reason PolicyDenied.",
  }),
  insecureTlsEndpoints: setting({
    env: ['INSECURE_TLS_ENDPOINTS'],
    flag: 'insecure-tls-endpoints',
    schema: origins(),
    description:
      'Origins whose certificates an OpenstackConfig, or the clouds.yaml of its Secret, may leave unverified, such as https://*.example.com (comma-separated); * stands for all. Elsewhere such an OpenstackConfig gets the reason PolicyDenied.',
  }),
  allowedProviders: setting({
    env: ['ALLOWED_PROVIDERS'],
    flag: 'allowed-providers',
    schema: textList().prefault(''),
    description:
      'Values of openstackProviderID and k8sProviderID that OpenstackConfigs may name (comma-separated). Without it, all; others get the reason PolicyDenied.',
  }),
  allowedNamespaces: setting({
    env: ['ALLOWED_NAMESPACES'],
    flag: 'allowed-namespaces',
    schema: textList().prefault(''),
    description:
      'Namespaces whose OpenstackConfigs the operator reconciles (comma-separated). Without it, all. Elsewhere they get the reason PolicyDenied, and their NICs stay until the object is deleted.',
  }),
  deletionDelay: setting({
    env: ['DELETION_DELAY'],
    flag: 'deletion-delay',
    schema: duration({ minMs: 0 }).prefault('30s'),
    description:
      'Time between the deletion of an OpenstackConfig and the removal of its first NIC (duration). In this time, an OpenstackConfig with the same cloud, project and business cluster, such as one renamed in git, takes the nodes over. If it is short, a rename removes NICs.',
  }),
  namespaceClusters: setting({
    env: ['NAMESPACE_CLUSTERS'],
    flag: 'namespace-clusters',
    schema: clustersOfNamespaces(),
    description:
      'Business clusters to which the OpenstackConfigs of a namespace may deliver: NAMESPACE=CLUSTER (k8sProviderID), with * for any text, such as team-a=prod-*,team-a=dev (comma-separated). Without it, all. If it is set, a namespace without a matching entry delivers to no business cluster; its OpenstackConfigs get the reason PolicyDenied, and their NICs stay until the object is deleted.',
  }),
  legacyTakeOver: setting({
    env: ['LEGACY_TAKE_OVER'],
    flag: 'legacy-take-over',
    schema: textList().prefault(''),
    description:
      'OpenstackConfigs that take over MultiNicNodeConfigs without source, which the legacy system wrote (comma-separated): NAMESPACE for all of a namespace, NAMESPACE/NAME, or * for all. Other OpenstackConfigs, and without it all, leave such nodes unchanged with the reason NameConflict. The migration sets it; empty it when all OpenstackConfigs are Ready.',
  }),
  formerClusters: setting({
    env: ['FORMER_CLUSTERS'],
    flag: 'former-clusters',
    schema: textList().prefault(''),
    description:
      'Management clusters that are gone, by the uid of their Namespace kube-system (comma-separated): OpenstackConfigs of the same names continue their nodes, as after the restore of a lost cluster.',
  }),
  existingConfiguration: setting({
    env: ['EXISTING_CONFIGURATION'],
    flag: 'existing-configuration',
    schema: oneOf(existingConfiguration.options).prefault('Refuse'),
    description:
      'What happens to NICs that other programs configured already: Refuse, or Adopt, which takes their configuration over. An OpenstackConfig overrides it. With Adopt, agents replace addresses and routes of such NICs.',
  }),
  defaultK8sProviderId: setting({
    env: ['DEFAULT_K8S_PROVIDER_ID'],
    flag: 'default-k8s-provider-id',
    schema: nonBlank().optional(),
    description:
      'Business cluster of OpenstackConfigs that name neither k8sProviderID nor openstackProviderID. Without it, they get the reason ConfigError.',
  }),
  ...contrabassSettings,
  ...violaSettings,
  ...openstackSettings,
  downPortFastRetryMax: setting({
    env: ['DOWN_PORT_FAST_RETRY_MAX'],
    flag: 'down-port-fast-retry-max',
    schema: integer(1, 1_000).prefault('5'),
    description:
      'Number of fast polls while ports are DOWN before polling is slow again. If it is high, ports that stay DOWN cost calls to OpenStack.',
  }),
  pollFastInterval: setting({
    env: ['POLL_FAST_INTERVAL'],
    flag: 'poll-fast-interval',
    schema: poll('20s'),
    description:
      'Poll interval after a change (duration). If it is short, OpenStack gets more calls; if it is long, NICs come later.',
  }),
  pollSlowInterval: setting({
    env: ['POLL_SLOW_INTERVAL'],
    flag: 'poll-slow-interval',
    schema: poll('2m'),
    description:
      'Poll interval while nothing changes (duration); less than --poll-fast-interval counts as that. If it is long, changes without a notification are found later.',
  }),
  pollErrorInterval: setting({
    env: ['POLL_ERROR_INTERVAL'],
    flag: 'poll-error-interval',
    schema: poll('30s'),
    description:
      'First interval after a failed sync (duration); it doubles up to 5m. If it is short, a failing cloud gets more calls.',
  }),
  pollFastWindow: setting({
    env: ['POLL_FAST_WINDOW'],
    flag: 'poll-fast-window',
    schema: duration({ minMs: 0 }).prefault('3m'),
    description:
      'Time for which polling stays fast after a change (duration); 0 switches fast polling off. If it is long, OpenStack gets more calls.',
  }),
  ...proxySettings,
  ...notificationSettings,
  ...brokerSecretSettings,
  ...storeSettings,
  ...triggerSettings,
  ...removedSettings,
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
