import type { Installation } from './helm.ts';

const operator = 'multinic-operator';
const agent = 'multinic-agent';
const digest = `sha256:${'a1b2c3d4'.repeat(8)}`;

const withMariadb = {
  operator: {
    replicas: 2,
    settings: { dbHost: 'mariadb.example.com', dbPort: 3307, dbUser: 'inventory', dbTls: true },
    caBundle: { secret: 'corporate-ca' },
    secretSettings: {
      dbPassword: { name: 'multinic-db', key: 'password' },
      contrabassEncryptKey: { name: 'contrabass', key: 'encrypt-key' },
    },
  },
};

const withCertManager = {
  viola: {
    tls: {
      mode: 'certManager',
      ca: { secret: 'private-ca-root', key: 'root.crt' },
      certManager: { issuerRef: { name: 'private-ca' } },
    },
  },
  serviceMonitor: { enabled: true, labels: { release: 'prometheus' } },
};

const withOwnSecrets = {
  operator: {
    caBundle: { configMap: 'corporate-ca', key: 'bundle.pem' },
    persistence: { existingClaim: 'inventory' },
    // The name that the certificate has.
    settings: { violaEndpoint: 'https://viola-api.multinic-operator-system.svc.site.example' },
  },
  viola: {
    tls: { mode: 'secret', secretName: 'viola-own', ca: { configMap: 'corporate-ca' } },
    tokens: {
      mode: 'secret',
      secretName: 'viola-callers',
      operatorToken: { secretName: 'viola-operator', key: 'bearer' },
    },
  },
  serviceMonitor: { enabled: true },
};

const withLegacyListener = {
  viola: { settings: { legacyListener: ':8081', legacyAllowFrom: ['10.0.0.0/24'] } },
  networkPolicy: {
    legacy: { from: [{ namespaceSelector: { matchLabels: { team: 'deployed' } } }] },
  },
};

const withoutTls = { viola: { tls: { mode: 'plain' } }, serviceMonitor: { enabled: true } };

/** Looks at night, and calls for more of them. */
const withTriggers = {
  operator: {
    trigger: {
      mode: 'scheduled',
      schedule: '0 3 * * *',
      timezone: 'Asia/Seoul',
      immediateOnCRChange: true,
      endpoint: {
        tokensSecret: 'trigger-callers',
        keysSecret: 'trigger-keys',
        keysKey: 'hmac',
        tlsSecret: 'trigger-tls',
      },
    },
  },
  networkPolicy: { trigger: { from: [{ ipBlock: { cidr: '192.0.2.0/24' } }] } },
};

/** And no port in other URLs but that of their scheme. */
const withViolaElsewhere = {
  operator: {
    settings: {
      violaEndpoint: 'https://viola-api.example.com:8447',
      contrabassEndpoint: 'http://contrabass.example.com',
      openstackNeutronEndpoint: 'https://neutron.example.com/v2.0',
    },
  },
  networkPolicy: { cloud: { ports: [5000] } },
};

/** What has no other place: all that can be said of Pods, and callers from elsewhere. */
const withMuchSaid = {
  global: { imageRegistry: 'registry.example.com/multinic', imagePullSecrets: [{ name: 'pull' }] },
  namespaces: { create: false, system: 'nics', clusters: 'nics-clusters' },
  operator: {
    image: { digest },
    settings: {
      listen: ':9082',
      inventoryListen: ':9081',
      apiPlainHttp: true,
      inventoryDbPath: '/data/nics/inventory.db',
      contrabassEndpoint: 'http://contrabass.example.com:8600/api',
      openstackNovaEndpoint: 'https://nova.example.com/v2.1',
      allowedEndpoints: ['https://*.example.com:8445', 'http://[2001:db8::10]:8446/', '*'],
      watchNamespace: 'nics',
      httpsProxy: 'http://proxy.example.com:3128',
      noProxy: ['.example.com', '10.0.0.0/8'],
      notifications: false,
      rabbitmqSecrets: true,
    },
    persistence: { storageClassName: 'fast', size: '2Gi' },
    podLabels: { team: 'network' },
    podAnnotations: { 'example.com/cost': '42' },
    nodeSelector: { 'node-role.kubernetes.io/control-plane': '' },
    tolerations: [{ key: 'node-role.kubernetes.io/control-plane', operator: 'Exists' }],
    priorityClassName: 'system-cluster-critical',
    extraVolumes: [{ name: 'more', secret: { secretName: 'more' } }],
    extraVolumeMounts: [{ name: 'more', mountPath: '/more', readOnly: true }],
  },
  viola: { settings: { listen: ':9443' }, replicas: 3 },
  networkPolicy: {
    inventory: { from: [{ podSelector: { matchLabels: { app: 'dashboard' } } }] },
    viola: { from: [{ ipBlock: { cidr: '192.0.2.0/24' } }] },
  },
};

/** Replicas of lifecycle, and of the operator what is in its base. */
const withLifecycle = {
  lifecycle: { enabled: true, replicas: 2, podLabels: { team: 'network' } },
  serviceMonitor: { enabled: true },
};

const withRegistry = {
  global: { imageRegistry: 'registry.example.com:5000/', imagePullSecrets: [{ name: 'pull' }] },
  controller: {
    image: { tag: 'v1.0.0', pullPolicy: 'Always' },
    replicas: 2,
    affinity: { nodeAffinity: {} },
  },
  agent: { image: { digest }, namespace: 'nic-agents', priorityClassName: 'nics' },
  serviceMonitor: { enabled: true },
  networkPolicy: { apiServer: { to: [{ ipBlock: { cidr: '10.0.0.0/28' } }], ports: [6443] } },
};

/** What is kept as a golden file, by the name of the file; that of a default in full, others as diffs to it. Kinds are left out: their own test compares them. */
export const installations: Readonly<Record<string, Installation>> = {
  'operator-default': { chart: operator },
  'operator-dev': { chart: operator, size: 'dev' },
  'operator-staging': { chart: operator, size: 'staging' },
  'operator-production': { chart: operator, size: 'production' },
  'operator-mariadb': { chart: operator, size: 'production', values: withMariadb },
  'operator-cert-manager': { chart: operator, values: withCertManager },
  'operator-own-secrets': { chart: operator, values: withOwnSecrets },
  'operator-lifecycle': { chart: operator, values: withLifecycle },
  'operator-legacy': { chart: operator, values: withLegacyListener },
  'operator-plain': { chart: operator, values: withoutTls },
  'operator-triggers': { chart: operator, values: withTriggers },
  'operator-viola-elsewhere': { chart: operator, values: withViolaElsewhere },
  'operator-much-said': { chart: operator, values: withMuchSaid },
  'agent-default': { chart: agent },
  'agent-dev': { chart: agent, size: 'dev' },
  'agent-staging': { chart: agent, size: 'staging' },
  'agent-production': { chart: agent, size: 'production' },
  'agent-registry': { chart: agent, values: withRegistry },
};
