/** Lifecycle's stages, in order. */
export const stages = [
  'credentials',
  'database',
  'backup',
  'controller',
  'triggers',
  'protection',
] as const;
export type StageName = (typeof stages)[number];

/** Stages depending on the database's image and size. */
export const databaseStages = ['database', 'backup'] as const;

/** A spec with an enabled database. */
export const databaseWith = (fields: object) => ({ database: { enabled: true, ...fields } });

type Row = readonly [what: string, spec: object];
type Group = readonly [field: string, ...rows: readonly Row[]];
type UnusableField = [what: string, spec: object, field: string, stages: readonly StageName[]];

const env = (...variables: readonly object[]) => ({ controller: { env: variables } });
const secret = { secretKeyRef: { name: 'a', key: 'b' } };
const both = { ...secret, configMapKeyRef: { name: 'a', key: 'b' } };
const noName = { secretKeyRef: { key: 'b' } };
const noKey = { configMapKeyRef: { name: 'b' } };

const ofController: readonly Group[] = [
  [
    'spec.controller.replicas',
    ['more replicas than SQLite has', { controller: { replicas: 2 } }],
    ['less than no replicas', { controller: { replicas: -1 } }],
  ],
  [
    'spec.controller.image',
    ['a blank image', { controller: { image: ' ' } }],
    ['an empty image', { controller: { image: '' } }],
    ['no image', { controller: { image: 'Multi NIC' } }],
  ],
  [
    'spec.controller.resources.cpu',
    ['a cpu in words', { controller: { resources: { cpu: 'two' } } }],
    ['a cpu of nothing', { controller: { resources: { cpu: '0' } } }],
  ],
  [
    'spec.controller.resources.memory',
    ['too little memory', { controller: { resources: { memory: '127Mi' } } }],
  ],
  [
    'spec.controller.healthProbe.port',
    ['a probe without a port', { controller: { healthProbe: { port: 0 } } }],
    ['a probe on a used port', { controller: { healthProbe: { port: 18081 } } }],
  ],
  [
    'spec.controller.healthProbe.path',
    ['a probe on another path', { controller: { healthProbe: { path: '/live' } } }],
  ],
  [
    'spec.controller.env[0].name',
    ['a nameless variable', env({ value: 'x' })],
    ['an illegal variable', env({ name: 'A B', value: 'x' })],
    ['the health address', env({ name: 'HEALTH_ADDR', value: ':1' })],
    ['two databases', { ...databaseWith({}), ...env({ name: 'DB_HOST', value: 'x' }) }],
    [
      'TLS to the built-in database',
      { ...databaseWith({}), ...env({ name: 'DB_TLS', value: 'x' }) },
    ],
  ],
  [
    'spec.controller.env[1].name',
    ['a variable twice', env({ name: 'A', value: 'x' }, { name: 'A' })],
  ],
  ['spec.controller.env[0]', ['two values', env({ name: 'A', value: 'x', valueFrom: secret })]],
  [
    'spec.controller.env[0].valueFrom',
    ['no source', env({ name: 'A', valueFrom: {} })],
    ['two sources', env({ name: 'A', valueFrom: both })],
  ],
  [
    'spec.controller.env[0].valueFrom.secretKeyRef.name',
    ['a source without a name', env({ name: 'A', valueFrom: noName })],
  ],
  [
    'spec.controller.env[0].valueFrom.configMapKeyRef.key',
    ['a source without a key', env({ name: 'A', valueFrom: noKey })],
  ],
  [
    'spec.openstack.identityEndpoint',
    ['an endpoint of another scheme', { openstack: { identityEndpoint: 'ftp://keystone' } }],
  ],
  [
    'spec.openstack.networkEndpoint',
    ['an endpoint without a scheme', { openstack: { networkEndpoint: 'neutron:9696' } }],
  ],
  [
    'spec.openstack.computeEndpoint',
    ['an endpoint with a password', { openstack: { computeEndpoint: 'http://a:b@nova' } }],
  ],
];

const ofDatabase: readonly Group[] = [
  [
    'spec.database.storageSize',
    ['a storage size in words', databaseWith({ storageSize: 'lots' })],
    ['a storage size below zero', databaseWith({ storageSize: '-1Gi' })],
  ],
  ['spec.database.image', ['a blank image of MariaDB', databaseWith({ image: '' })]],
  [
    'spec.database.resources.memory',
    ['too little memory for MariaDB', databaseWith({ resources: { memory: '64Mi' } })],
  ],
  [
    'spec.database.service.type',
    ['an unknown Service', databaseWith({ service: { type: 'ExternalName' } })],
  ],
  ['spec.database.service.port', ['no port', databaseWith({ service: { port: 70000 } })]],
  [
    'spec.database.service.nodePort',
    ['no port of nodes', databaseWith({ service: { type: 'NodePort', nodePort: 0 } })],
    ['a port of nodes without effect', databaseWith({ service: { nodePort: 30305 } })],
  ],
];

const ofBackup: readonly Group[] = [
  [
    'spec.database.backup.schedule',
    ['no time of a backup', databaseWith({ backup: { schedule: '99 * * * *' } })],
    ['a day that does not come', databaseWith({ backup: { schedule: '0 0 31 2 *' } })],
    ['a Sunday that Kubernetes does not know', databaseWith({ backup: { schedule: '0 3 * * 7' } })],
    [
      'a last day that Kubernetes does not know',
      databaseWith({ backup: { schedule: '0 3 L * *' } }),
    ],
    ['six fields', databaseWith({ backup: { schedule: '0 0 3 * * *' } })],
    ['a word of cron', databaseWith({ backup: { schedule: '@daily' } })],
  ],
  [
    'spec.database.backup.retention',
    ['no backup that stays', databaseWith({ backup: { retention: 0 } })],
  ],
];

const ofCredentials: readonly Group[] = [
  [
    'spec.database.credentials.password',
    ['an empty password', databaseWith({ credentials: { password: '' } })],
    ['a password that is a number', databaseWith({ credentials: { password: 12345 } })],
    ['a NUL in a password', databaseWith({ credentials: { password: 'a\0b' } })],
    ['half of a character in a password', databaseWith({ credentials: { password: 'a\uD800' } })],
  ],
  [
    'spec.database.credentials.rootPassword',
    ['a password of 513 bytes', databaseWith({ credentials: { rootPassword: 'x'.repeat(513) } })],
  ],
  [
    'spec.database.credentials.user',
    ['root as a user', databaseWith({ credentials: { user: 'root' } })],
    ['the account of backups', databaseWith({ credentials: { user: 'multinic_backup' } })],
    ['a user with a quote', databaseWith({ credentials: { user: "o'neil" } })],
  ],
  [
    'spec.database.credentials.database',
    ['a database of MariaDB', databaseWith({ credentials: { database: 'MySQL' } })],
    ['a database that is too long', databaseWith({ credentials: { database: 'd'.repeat(65) } })],
  ],
];

const ofProtection: readonly Group[] = [
  [
    'spec.protection.allowedOperations[1]',
    ['an unknown operation', { protection: { allowedOperations: ['get', 'create'] } }],
  ],
];

const ofTriggers: readonly Group[] = [
  ['spec.reconcileTrigger.mode', ['an unknown mode', { reconcileTrigger: { mode: 'sometimes' } }]],
  [
    'spec.reconcileTrigger.interval',
    ['too short an interval', { reconcileTrigger: { mode: 'scheduled', interval: '5s' } }],
  ],
  [
    'spec.reconcileTrigger.schedule',
    ['a cron that is none', { reconcileTrigger: { mode: 'scheduled', schedule: '99 * * * *' } }],
  ],
  [
    'spec.reconcileTrigger.timezone',
    ['an unknown time zone', { reconcileTrigger: { timezone: 'Mars' } }],
  ],
];

/** Unusable fields, and the stages stopped by each. */
export const unusableFields: readonly UnusableField[] = [
  ...rowsOf(ofController, ['controller']),
  ...rowsOf(ofDatabase, databaseStages),
  ...rowsOf(ofBackup, ['backup']),
  ...rowsOf(ofCredentials, ['credentials']),
  ...rowsOf(ofProtection, ['protection']),
  ...rowsOf(ofTriggers, ['triggers']),
];

function rowsOf(groups: readonly Group[], concerned: readonly StageName[]): UnusableField[] {
  return groups.flatMap(([field, ...rows]) =>
    rows.map(([what, spec]): UnusableField => [what, spec, field, concerned]),
  );
}
