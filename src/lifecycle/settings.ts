import { namespaces } from '../api/names.ts';
import { address, duration, nonBlank } from '../process/setting-schemas.ts';
import { type Settings, setting, type Values } from '../process/settings.ts';

export const lifecycleSettings = {
  kubeconfig: setting({
    env: ['KUBECONFIG'],
    flag: 'kubeconfig',
    schema: nonBlank().optional(),
    description: 'kubeconfig of the management cluster, default: in-cluster',
  }),
  namespace: setting({
    env: ['POD_NAMESPACE'],
    flag: 'namespace',
    schema: nonBlank().prefault(namespaces.system),
    description: `namespace of lifecycle and of all that it installs, default ${namespaces.system}`,
  }),
  identity: setting({
    env: ['POD_NAME'],
    flag: 'identity',
    schema: nonBlank().prefault('multinic-lifecycle'),
    description: 'name of this process in the Lease, default multinic-lifecycle',
  }),
  serviceAccount: setting({
    env: ['SERVICE_ACCOUNT'],
    flag: 'service-account',
    schema: nonBlank().prefault('multinic-operator'),
    description:
      'ServiceAccount that lifecycle runs as, which its webhook lets through, default multinic-operator',
  }),
  leaseDurationMs: setting({
    env: ['LEASE_DURATION'],
    flag: 'lease-duration',
    schema: duration({ minMs: 1000 }).prefault('15s'),
    description: 'how long a replica leads without renewing its Lease, default 15s',
  }),
  listen: setting({
    env: ['HEALTH_ADDR'],
    flag: 'listen',
    schema: address().prefault(':8082'),
    description: 'address of /healthz, /readyz and /metrics, default :8082',
  }),
  webhookListen: setting({
    env: ['WEBHOOK_ADDR'],
    flag: 'webhook-listen',
    schema: address().prefault(':9443'),
    description: 'address of the admission webhook (HTTPS), default :9443',
  }),
  webhookUrl: setting({
    env: ['WEBHOOK_URL'],
    flag: 'webhook-url',
    schema: nonBlank().optional(),
    description:
      'URL at which the API server calls the webhook, default: the Service multinic-operator-webhook',
  }),
} satisfies Settings;

export type LifecycleSettings = Values<typeof lifecycleSettings>;
