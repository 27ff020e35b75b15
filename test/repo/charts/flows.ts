import type { Party } from './network.ts';

// Who may talk to whom, and who must not.

function pod(namespace: string, labels: Readonly<Record<string, string>>, ip = '10.244.0.9') {
  return { ip, pod: { namespace, labels } } satisfies Party;
}

function part(namespace: string, instance: string, name: string, component: string): Party {
  return pod(namespace, {
    'app.kubernetes.io/instance': instance,
    'app.kubernetes.io/name': name,
    'app.kubernetes.io/component': component,
    'app.kubernetes.io/part-of': 'multinic',
  });
}

const home = 'multinic-operator-system';
const business = 'multinic-system';

const managedLabels = {
  'multinic.example.com/protected': 'true',
  'multinic.example.com/managed-by-operator': 'multinic',
};

export const parties = {
  operator: part(home, 'multinic-operator', 'multinic-operator', 'operator'),
  lifecycle: part(home, 'multinic-operator', 'multinic-operator', 'lifecycle'),
  viola: part(home, 'multinic-operator', 'viola-api', 'viola'),
  /** As lifecycle makes them. */
  managedMariadb: pod(home, { app: 'mariadb', ...managedLabels }),
  managedBackup: pod(home, { app: 'mariadb-backup', ...managedLabels }),
  managementTest: part(home, 'multinic-operator', 'multinic-operator', 'test'),
  controller: part(business, 'multinic-agent', 'multinic-agent', 'controller'),
  businessTest: part(business, 'multinic-agent', 'multinic-agent', 'test'),
  agent: {
    ip: '192.168.0.11',
    pod: { namespace: 'multinic-agents', labels: {}, hostNetwork: true },
  },
  /** A Pod with the labels of an agent whose host network an admission webhook took away. */
  agentOnPodNetwork: pod('multinic-agents', {
    'app.kubernetes.io/name': 'multinic-agent',
    'app.kubernetes.io/component': 'agent',
    'app.kubernetes.io/managed-by': 'multinic',
  }),
  neighbourOfAgents: pod('multinic-agents', { app: 'shop' }),
  otherAgent: pod('multinic-agents', { 'app.kubernetes.io/component': 'agent' }),
  stranger: pod('default', { app: 'shop' }),
  neighbour: pod(home, { app: 'shop' }),
  dashboard: pod(home, { app: 'dashboard' }),
  /** Somebody who calls himself the operator, elsewhere. */
  impostor: part('default', 'multinic-operator', 'multinic-operator', 'operator'),
  prometheus: pod('monitoring', { app: 'prometheus' }),
  coreDns: pod('kube-system', { 'k8s-app': 'kube-dns' }),
  nodeLocalDns: { ip: '169.254.20.10' },
  foreignDns: { ip: '8.8.8.8' },
  apiService: { ip: '10.96.0.1' },
  apiServer: { ip: '10.0.0.2' },
  otherApiServer: { ip: '203.0.113.6' },
  businessApiServer: { ip: '198.51.100.5' },
  cloud: { ip: '203.0.113.10' },
  cloudV6: { ip: '2001:db8::10' },
  cloudInCluster: pod('openstack', { app: 'keystone' }),
  metadataService: { ip: '169.254.169.254' },
  linkLocalV6: { ip: 'fe80::1' },
  mariadb: { ip: '203.0.113.20' },
  mariadbInCluster: pod('databases', { app: 'mariadb' }),
  deployedOperator: { ip: '10.0.0.77' },
  deployedOperatorPod: {
    ip: '10.244.7.7',
    pod: { namespace: 'old', namespaceLabels: { team: 'deployed' }, labels: {} },
  },
  office: { ip: '192.0.2.14' },
} satisfies Readonly<Record<string, Party>>;

type PartyName = keyof typeof parties;

/** From, to, port, and whether it goes through. */
type Flow = readonly [PartyName, PartyName, number, 'allowed' | 'denied', ('TCP' | 'UDP')?];

const names: readonly Flow[] = [
  ['operator', 'coreDns', 53, 'allowed', 'UDP'],
  ['operator', 'coreDns', 53, 'allowed'],
  ['operator', 'nodeLocalDns', 53, 'allowed', 'UDP'],
  ['operator', 'foreignDns', 53, 'denied', 'UDP'],
  ['viola', 'coreDns', 53, 'allowed', 'UDP'],
  ['viola', 'foreignDns', 53, 'denied', 'UDP'],
];

const apiServers: readonly Flow[] = [
  ['operator', 'apiService', 443, 'allowed'],
  ['operator', 'apiServer', 6443, 'allowed'],
  ['viola', 'apiService', 443, 'allowed'],
  ['viola', 'apiServer', 6443, 'allowed'],
  ['viola', 'businessApiServer', 6443, 'allowed'],
  ['viola', 'businessApiServer', 443, 'allowed'],
  ['viola', 'businessApiServer', 10250, 'denied'],
];

const clouds: readonly Flow[] = [
  ['operator', 'cloud', 5000, 'allowed'],
  ['operator', 'cloud', 9696, 'allowed'],
  ['operator', 'cloud', 8774, 'allowed'],
  ['operator', 'cloud', 443, 'allowed'],
  ['operator', 'cloud', 80, 'allowed'],
  ['operator', 'cloudV6', 5000, 'allowed'],
  ['operator', 'cloudInCluster', 5000, 'allowed'],
  ['operator', 'cloud', 22, 'denied'],
  ['operator', 'cloud', 5000, 'denied', 'UDP'],
  ['operator', 'metadataService', 80, 'denied'],
  ['operator', 'linkLocalV6', 80, 'denied'],
  ['viola', 'cloud', 5000, 'denied'],
  ['viola', 'metadataService', 80, 'denied'],
];

const callers: readonly Flow[] = [
  ['operator', 'viola', 8080, 'allowed'],
  ['impostor', 'viola', 8080, 'denied'],
  ['stranger', 'viola', 8080, 'denied'],
  ['neighbour', 'viola', 8080, 'denied'],
  ['office', 'viola', 8080, 'denied'],
  ['viola', 'operator', 8082, 'denied'],
  ['prometheus', 'operator', 8082, 'allowed'],
  ['prometheus', 'viola', 8080, 'allowed'],
  ['prometheus', 'operator', 18081, 'denied'],
  ['stranger', 'operator', 8082, 'denied'],
  ['neighbour', 'operator', 18081, 'denied'],
];

const managementTest: readonly Flow[] = [
  ['managementTest', 'operator', 8082, 'allowed'],
  ['managementTest', 'viola', 8080, 'allowed'],
  ['managementTest', 'coreDns', 53, 'allowed', 'UDP'],
  ['managementTest', 'apiServer', 6443, 'denied'],
  ['managementTest', 'cloud', 443, 'denied'],
  ['stranger', 'managementTest', 8080, 'denied'],
];

const withoutOptions: readonly Flow[] = [
  ['operator', 'cloud', 3128, 'denied'],
  ['operator', 'mariadb', 3306, 'denied'],
  ['operator', 'cloud', 5671, 'allowed'],
  ['operator', 'cloud', 5672, 'allowed'],
  ['operator', 'metadataService', 5672, 'denied'],
  ['deployedOperator', 'viola', 8081, 'denied'],
];

const management = [
  ...names,
  ...apiServers,
  ...clouds,
  ...callers,
  ...managementTest,
  ...withoutOptions,
];

const controllers: readonly Flow[] = [
  ['controller', 'apiService', 443, 'allowed'],
  ['controller', 'apiServer', 6443, 'allowed'],
  ['controller', 'coreDns', 53, 'denied', 'UDP'],
  ['controller', 'cloud', 5000, 'denied'],
  ['controller', 'metadataService', 80, 'denied'],
  ['prometheus', 'controller', 8080, 'allowed'],
  ['stranger', 'controller', 8080, 'denied'],
  ['agent', 'controller', 8080, 'denied'],
  ['businessTest', 'controller', 8080, 'allowed'],
  ['businessTest', 'coreDns', 53, 'allowed', 'UDP'],
  ['businessTest', 'apiServer', 6443, 'denied'],
  ['agentOnPodNetwork', 'cloud', 443, 'denied'],
  ['agentOnPodNetwork', 'coreDns', 53, 'denied', 'UDP'],
  ['stranger', 'agentOnPodNetwork', 80, 'denied'],
  // The namespace of the agents may be shared.
  ['neighbourOfAgents', 'coreDns', 53, 'allowed', 'UDP'],
  ['stranger', 'neighbourOfAgents', 80, 'allowed'],
  ['otherAgent', 'cloud', 443, 'allowed'],
  // Its node's packets; agents ask nobody for anything.
  ['agent', 'cloud', 443, 'allowed'],
];

/** By golden file. What a policy engine makes of them is not shown here. */
export const flows: Readonly<Record<string, readonly Flow[]>> = {
  'operator-default': management,
  'operator-dev': management,
  'operator-production': management,
  'operator-mariadb': [
    ['operator', 'mariadb', 3307, 'allowed'],
    ['operator', 'mariadbInCluster', 3307, 'allowed'],
    ['operator', 'mariadb', 3306, 'denied'],
    ['viola', 'mariadb', 3307, 'denied'],
  ],
  'operator-lifecycle': [
    ...management.filter((flow) => !flow.includes('mariadb')),
    ['apiServer', 'lifecycle', 9443, 'allowed'],
    ['stranger', 'lifecycle', 8082, 'denied'],
    ['prometheus', 'lifecycle', 8082, 'allowed'],
    ['managementTest', 'lifecycle', 8082, 'allowed'],
    ['lifecycle', 'apiServer', 6443, 'allowed'],
    ['lifecycle', 'coreDns', 53, 'allowed', 'UDP'],
    ['lifecycle', 'cloud', 5000, 'denied'],
    ['lifecycle', 'managedMariadb', 3306, 'denied'],
    ['operator', 'managedMariadb', 3306, 'allowed'],
    ['operator', 'mariadb', 3306, 'allowed'],
    ['managedBackup', 'managedMariadb', 3306, 'allowed'],
    ['managedBackup', 'coreDns', 53, 'allowed', 'UDP'],
    ['managedBackup', 'mariadb', 3306, 'denied'],
    ['managedBackup', 'apiServer', 6443, 'denied'],
    ['viola', 'managedMariadb', 3306, 'denied'],
    ['neighbour', 'managedMariadb', 3306, 'denied'],
    ['stranger', 'managedMariadb', 3306, 'denied'],
    ['managedMariadb', 'coreDns', 53, 'denied', 'UDP'],
    ['managedMariadb', 'apiServer', 6443, 'denied'],
    ['managedMariadb', 'cloud', 443, 'denied'],
  ],
  'operator-legacy': [
    ['deployedOperator', 'viola', 8081, 'allowed'],
    ['deployedOperatorPod', 'viola', 8081, 'allowed'],
    ['deployedOperator', 'viola', 8080, 'denied'],
    ['office', 'viola', 8081, 'denied'],
    ['stranger', 'viola', 8081, 'denied'],
    ['operator', 'viola', 8080, 'allowed'],
  ],
  'operator-own-secrets': [
    ['operator', 'viola', 8080, 'allowed'],
    ['operator', 'cloud', 8080, 'denied'],
  ],
  'operator-viola-elsewhere': [
    ['operator', 'cloud', 8447, 'allowed'],
    ['operator', 'viola', 8080, 'denied'],
    ['operator', 'cloud', 80, 'allowed'],
    ['operator', 'cloud', 443, 'allowed'],
    ['operator', 'cloud', 9696, 'denied'],
  ],
  'operator-much-said': [
    ['operator', 'cloud', 8600, 'allowed'],
    ['operator', 'cloud', 3128, 'allowed'],
    ['operator', 'cloud', 8445, 'allowed'],
    ['operator', 'cloudV6', 8446, 'allowed'],
    ['viola', 'cloud', 3128, 'denied'],
    ['operator', 'cloud', 5671, 'denied'],
    ['operator', 'cloud', 5672, 'denied'],
    ['operator', 'metadataService', 5672, 'denied'],
    ['operator', 'viola', 9443, 'allowed'],
    ['operator', 'viola', 8080, 'denied'],
    ['office', 'viola', 9443, 'allowed'],
    ['dashboard', 'operator', 9081, 'allowed'],
    ['stranger', 'operator', 9081, 'denied'],
    ['prometheus', 'operator', 9082, 'allowed'],
    ['managementTest', 'operator', 9082, 'allowed'],
    ['managementTest', 'viola', 9443, 'allowed'],
  ],
  'agent-default': controllers,
  'agent-production': controllers,
  'agent-registry': [
    ['controller', 'apiServer', 6443, 'allowed'],
    ['controller', 'apiServer', 443, 'denied'],
    ['controller', 'otherApiServer', 6443, 'denied'],
  ],
};
