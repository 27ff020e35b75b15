import { namespaces } from '../api/names.ts';
import { address, duration, nonBlank } from '../process/setting-schemas.ts';
import { removedSetting, type Settings, setting, type Values } from '../process/settings.ts';

/** Settings of `multinic lifecycle`. */
export const lifecycleSettings = {
  kubeconfig: setting({
    env: ['KUBECONFIG'],
    flag: 'kubeconfig',
    schema: nonBlank().optional(),
    description:
      'Kubeconfig of the management cluster. Without it, lifecycle uses the ServiceAccount of its Pod, and exits outside of a Pod.',
  }),
  namespace: setting({
    env: ['POD_NAMESPACE'],
    flag: 'namespace',
    schema: nonBlank().prefault(namespaces.system),
    description:
      'Namespace of lifecycle and of everything that it installs. A MultiNicOperator in another namespace has no effect.',
  }),
  serviceAccount: setting({
    env: ['SERVICE_ACCOUNT'],
    flag: 'service-account',
    schema: nonBlank().prefault('multinic-operator'),
    description:
      'ServiceAccount of lifecycle, which its webhook admits. With a wrong name the webhook denies the changes of lifecycle itself.',
  }),
  leaseDurationMs: setting({
    env: ['LEASE_DURATION'],
    flag: 'lease-duration',
    schema: duration({ minMs: 1000 }).prefault('15s'),
    description:
      'Time after which another replica takes over from a leader that is gone (duration, at least 1s). If it is too short, a slow API server costs the leader its lease.',
  }),
  listen: setting({
    env: ['HEALTH_ADDR'],
    flag: 'listen',
    schema: address().prefault(':8082'),
    description:
      'Address of /healthz, /readyz and /metrics. If the port is taken, lifecycle exits; on loopback no probe of the kubelet arrives.',
  }),
  webhookListen: setting({
    env: ['WEBHOOK_ADDR'],
    flag: 'webhook-listen',
    schema: address().prefault(':9443'),
    description:
      'Address of the admission webhook (HTTPS). If the API server cannot reach it, protected objects cannot be changed or deleted.',
  }),
  webhookUrl: setting({
    env: ['WEBHOOK_URL'],
    flag: 'webhook-url',
    schema: nonBlank().optional(),
    description:
      'URL at which the API server calls the webhook. Without it, the Service multinic-operator-webhook. If the URL leads elsewhere, protected objects cannot be changed or deleted.',
  }),
  // Removed settings: accepted and ignored for one release.
  identity: removedSetting(
    'identity',
    [],
    'the environment variable POD_NAME names the process in the lease',
  ),
} satisfies Settings;

export type LifecycleSettings = Values<typeof lifecycleSettings>;
