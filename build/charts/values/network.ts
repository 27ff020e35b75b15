import { flag, group } from './describe.ts';
import { peers, ports } from './kubernetes.ts';

// NetworkPolicy rules. `to: []` allows every peer, `from: []` allows none.

/**
 * All addresses except link-local ones: clouds serve metadata there. Some network plugins exclude Pods from ipBlock, so a second peer
 * selects Pods.
 */
const anywhereButLinkLocal = [
  { ipBlock: { cidr: '0.0.0.0/0', except: ['169.254.0.0/16'] } },
  { ipBlock: { cidr: '::/0', except: ['fe80::/10'] } },
  { namespaceSelector: {} },
];

export const enabled = flag(
  true,
  'Whether NetworkPolicies are made: default deny for our Pods, both ways, and what they need.',
);

export const apiServer = group('The API server of this cluster, as Pods and policies see it.', {
  to: peers(
    [],
    'Where it is; empty: anywhere, which is all that works for each engine (Cilium matches no ipBlock with its nodes).',
  ),
  ports: ports(
    [443, 6443],
    'Ports of its Service and of itself: some engines look before, some after the translation.',
  ),
});

export const metrics = group('Who reads metrics.', {
  from: peers(
    [{ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'monitoring' } } }],
    'Namespaces or Pods of Prometheus.',
  ),
});

export const dns = group('Name servers.', {
  to: peers(
    [
      { namespaceSelector: {}, podSelector: { matchLabels: { 'k8s-app': 'kube-dns' } } },
      { ipBlock: { cidr: '169.254.20.10/32' } },
    ],
    "CoreDNS of most clusters, and the address of a node's own cache.",
  ),
  ports: ports([53], 'UDP and TCP.'),
});

/** Values for the management cluster. */
export const managementRules = {
  enabled,
  apiServer,
  metrics,
  dns,
  cloud: group('Contrabass, Keystone, Neutron and Nova, from the operator.', {
    to: peers(anywhereButLinkLocal, 'Where they are.'),
    ports: ports(
      [80, 443, 5000, 8774, 9696],
      'TCP ports. Those of the endpoints and proxies in operator.settings come along by themselves; those that an OpenstackConfig or the catalog of a cloud names besides have to be here.',
    ),
  }),
  clusters: group('API servers of business clusters, from Viola.', {
    to: peers([], 'Where they are; empty: anywhere.'),
    ports: ports([443, 6443], 'TCP ports of those that are registered.'),
  }),
  mariadb: group('MariaDB, from the operator, when operator.settings.dbHost is set.', {
    to: peers(anywhereButLinkLocal, 'Where it is; its port is operator.settings.dbPort.'),
    from: peers(
      [],
      'With lifecycle: who may call the MariaDB of a MultiNicOperator, beside the operator and backups.',
    ),
  }),
  amqp: group('Notifications of OpenStack, from the operator.', {
    enabled: flag(true, 'Whether the message queues that Contrabass names may be reached.'),
    to: peers(anywhereButLinkLocal, 'Where it is.'),
    ports: ports(
      [5671, 5672],
      'TCP ports, 5671 with TLS; another one that Contrabass names has to be here.',
    ),
  }),
  viola: group('Who may call Viola beside the operator; a token is needed besides.', {
    from: peers([], 'Namespaces, Pods or addresses.'),
  }),
  legacy: group('Who may call the legacy listener, beside the addresses of legacyAllowFrom.', {
    from: peers([], 'Namespaces or Pods, for engines that match no Pod with an ipBlock.'),
  }),
  inventory: group('Who may call the inventory, when it listens on more than loopback.', {
    from: peers([], 'Namespaces, Pods or addresses.'),
  }),
  trigger: group('Who may call the trigger endpoint; a token or a signature is needed besides.', {
    from: peers([], 'Namespaces, Pods or addresses.'),
  }),
};
