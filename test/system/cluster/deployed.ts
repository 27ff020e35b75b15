/** Objects in the form of the legacy Go system and the requester's documents; our CRDs must accept these objects. */

const credentials = {
  openstackProviderID: '1a4e3c5a-8b6a-4a9f-9d3c-6f0d3a5b7c11',
  k8sProviderID: 'b7e1c5c2-6d43-4a37-9a1e-2f5b9d0c8a55',
  projectID: 'c20739523bf240778914c62781a571b8',
};

function openstackConfig(name: string, spec: object) {
  return {
    apiVersion: 'multinic.example.com/v1alpha1',
    kind: 'OpenstackConfig',
    metadata: { name, namespace: 'multinic-system' },
    spec,
  };
}

/** Three shapes of the same kind: credentials in the object, a single subnet, and the newest shape. */
export const openstackConfigs = [
  openstackConfig('generation-0', {
    subnetName: 'data-subnet',
    vmNames: ['worker-1', 'worker-2'],
    credentials: {
      authURL: 'https://keystone.example:5000/v3',
      username: 'admin',
      password: 'secret',
      projectID: 'c20739523bf240778914c62781a571b8',
      domainName: 'Default',
      networkEndpoint: 'https://neutron.example:9696',
      computeEndpoint: 'https://nova.example:8774/v2.1',
    },
  }),
  openstackConfig('generation-1', {
    subnetID: '02a1215e-a914-4f78-b154-56b90bcfcb07',
    vmNames: ['ac51b2fd-e595-4395-8fb1-f21d069523c0'],
    credentials: {
      openstackProviderID: credentials.openstackProviderID,
      projectID: credentials.projectID,
    },
  }),
  openstackConfig('generation-3', {
    subnetIDs: ['02a1215e-a914-4f78-b154-56b90bcfcb07', '023001fe-f645-49a0-a360-598266b76763'],
    vmNames: ['ac51b2fd-e595-4395-8fb1-f21d069523c0'],
    credentials,
    settings: {
      contrabassEndpoint: 'https://contrabass.example',
      contrabassInsecureTLS: true,
      openstackPortAllowedStatuses: ['ACTIVE', 'DOWN'],
      downPortFastRetryMax: 5,
      pollFastInterval: '20s',
      pollSlowInterval: '2m',
      openstackNodeNameMetadataKey: 'k8s-node',
    },
    secrets: {
      contrabassEncryptKeySecretRef: {
        name: 'contrabass-encrypt-key',
        key: 'CONTRABASS_ENCRYPT_KEY',
      },
    },
  }),
];

/** Form of the legacy Viola: v1alpha1, no portId, five NICs in the same subnet. */
export const legacyNodeConfig = {
  apiVersion: 'multinic.io/v1alpha1',
  kind: 'MultiNicNodeConfig',
  metadata: {
    name: 'new-k8s-worker1',
    namespace: 'multinic-system',
    labels: {
      'multinic.io/node-name': 'new-k8s-worker1',
      'multinic.io/instance-id': 'ac51b2fd-e595-4395-8fb1-f21d069523c0',
    },
  },
  spec: {
    nodeName: 'new-k8s-worker1',
    instanceId: 'ac51b2fd-e595-4395-8fb1-f21d069523c0',
    interfaces: [0, 1, 2, 3, 4].map((id) => ({
      id,
      name: `multinic${id}`,
      macAddress: `FA:16:3E:FB:9B:6${id}`,
      address: `192.168.192.13${id}`,
      cidr: '192.168.192.0/24',
      mtu: 1450,
    })),
  },
};

/** As seed 004 shows it: v1, provider and hash, ids from 1, cidr in host form, no names. */
export const seedNodeConfig = {
  apiVersion: 'multinic.io/v1',
  kind: 'MultiNicNodeConfig',
  metadata: { name: 'worker-node-01', namespace: 'multinic-system' },
  spec: {
    providerId: 'b7e1c5c2-6d43-4a37-9a1e-2f5b9d0c8a55',
    nodeName: 'worker-node-01',
    instanceId: '5a48382b-a42d-43c7-86e1-99d29afd25fa',
    specHash: 'sha256:6b8a',
    interfaces: [
      {
        id: 1,
        portId: '6330e2a7-e57e-4fd9-8ddc-d3a09d36bb54',
        macAddress: 'fa:16:3e:b3:e6:50',
        address: '192.168.100.10',
        cidr: '192.168.100.10/24',
        mtu: 1450,
      },
    ],
  },
};

/** As the legacy controller writes it after a partial failure: no message and no time in the condition. */
export const legacyStatus = {
  state: 'Failed',
  observedGeneration: 1,
  observedSpecHash: '5ac509d47753bbd9744168adcacb9b3d07501718d9719206963c7373072e8e44',
  lastJobName: 'multinic-agent-new-k8s-worker1-g1',
  nodeReady: true,
  lastInterfaceCheck: '2026-01-12T09:00:00+09:00',
  conditions: [{ type: 'Ready', status: 'False', reason: 'JobFailedPartial' }],
  interfaceStatuses: [
    {
      name: 'multinic0',
      interfaceIndex: 0,
      id: 0,
      macAddress: 'fa:16:3e:fb:9b:60',
      status: 'Failed',
      reason: 'JobFailedPartial',
      message: '[VALIDATION:VAL001] preflight: target interface in use (has_ipv4)',
      actualState: 'Unknown',
      lastUpdated: '2026-01-12T09:00:00+09:00',
      lastChecked: '2026-01-12T09:00:00+09:00',
    },
  ],
};
