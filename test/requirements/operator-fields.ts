import type { StageName } from '../../src/lifecycle/testing/unusable-fields.ts';

/** A value of a field of a MultiNicOperator, and what it adds to the plan of a stage. */
export interface FieldRow {
  readonly spec: object;
  readonly stage: StageName;
  /** Matches a line that the plan, as indented JSON, has because of the value. */
  readonly adds: RegExp;
  /** Spec without the value; default: `usualSpec`. */
  readonly without?: object;
}

/** A database and protection that are on. */
export const usualSpec = {
  database: { enabled: true },
  protection: { enableMutationPrevention: true },
};

const env = (...variables: readonly object[]) => ({ controller: { env: variables } });
const secret = { name: 'vault', key: 'token', optional: true };
const fromSecret = env({ name: 'A', valueFrom: { secretKeyRef: secret } });
const fromConfigMap = env({ name: 'A', valueFrom: { configMapKeyRef: secret } });
const scheduled = { mode: 'scheduled' };

const controller = (spec: object, adds: RegExp): FieldRow => ({
  spec: { controller: spec },
  stage: 'controller',
  adds,
});
const database = (fields: object, adds: RegExp, stage: StageName = 'database'): FieldRow => ({
  spec: { database: fields },
  stage,
  adds,
});
const base64 = (text: string): RegExp => new RegExp(`"${Buffer.from(text).toString('base64')}"`);
const login = (credentials: Readonly<Record<string, string>>): FieldRow =>
  database({ credentials }, base64(Object.values(credentials)[0] ?? ''), 'credentials');
const endpoint = (name: string): FieldRow => ({
  spec: { openstack: { [name]: 'https://cloud.example.com' } },
  stage: 'controller',
  adds: /"value": "https:\/\/cloud\.example\.com"/,
});
const variable = (spec: object, adds: RegExp): FieldRow => ({ spec, stage: 'controller', adds });
const protection = (fields: object, adds: RegExp, without = {}): FieldRow => ({
  spec: { protection: fields },
  stage: 'protection',
  adds,
  without,
});
const trigger = (reconcileTrigger: object, adds: RegExp): FieldRow => ({
  spec: { reconcileTrigger },
  stage: 'triggers',
  adds,
});

/** Each field below `spec` of a MultiNicOperator; `[]` stands for the entries of a list. */
export const operatorFields: Readonly<Record<string, FieldRow>> = {
  'controller.image': controller({ image: 'example.com/other:1' }, /"example\.com\/other:1"/),
  'controller.replicas': controller({ replicas: 3 }, /"replicas": 3/),
  'controller.resources.cpu': controller({ resources: { cpu: '250m' } }, /"cpu": "250m"/),
  'controller.resources.memory': controller({ resources: { memory: '1Gi' } }, /"memory": "1Gi"/),
  'controller.healthProbe.port': controller({ healthProbe: { port: 9_090 } }, /:9090"/),
  'controller.healthProbe.path': controller(
    { healthProbe: { path: '/readyz' } },
    /"path": "\/readyz"/,
  ),
  'controller.env[].name': variable(env({ name: 'MARK', value: 'x' }), /"name": "MARK"/),
  'controller.env[].value': variable(env({ name: 'A', value: 'mark' }), /"value": "mark"/),
  'controller.env[].valueFrom.secretKeyRef.name': variable(fromSecret, /"name": "vault"/),
  'controller.env[].valueFrom.secretKeyRef.key': variable(fromSecret, /"key": "token"/),
  'controller.env[].valueFrom.secretKeyRef.optional': variable(fromSecret, /"optional": true/),
  'controller.env[].valueFrom.configMapKeyRef.name': variable(fromConfigMap, /"name": "vault"/),
  'controller.env[].valueFrom.configMapKeyRef.key': variable(fromConfigMap, /"key": "token"/),
  'controller.env[].valueFrom.configMapKeyRef.optional': variable(
    fromConfigMap,
    /"optional": true/,
  ),
  'database.enabled': { ...database({ enabled: true }, /"kind": "StatefulSet"/), without: {} },
  'database.image': database({ image: 'mariadb:11.8' }, /"image": "mariadb:11\.8"/),
  'database.storageSize': database({ storageSize: '30Gi' }, /"storage": "30Gi"/),
  'database.resources.cpu': database({ resources: { cpu: '250m' } }, /"cpu": "250m"/),
  'database.resources.memory': database({ resources: { memory: '1Gi' } }, /"memory": "1Gi"/),
  'database.credentials.rootPassword': login({ rootPassword: 'root-mark' }),
  'database.credentials.database': login({ database: 'database-mark' }),
  'database.credentials.user': login({ user: 'user-mark' }),
  'database.credentials.password': login({ password: 'password-mark' }),
  'database.service.type': database({ service: { type: 'NodePort' } }, /"type": "NodePort"/),
  'database.service.port': database({ service: { port: 3_307 } }, /"port": 3307/),
  'database.service.nodePort': database(
    { service: { type: 'NodePort', nodePort: 30_305 } },
    /"nodePort": 30305/,
  ),
  'database.backup.schedule': database(
    { backup: { schedule: '5 4 * * *' } },
    /"schedule": "5 4 \* \* \*"/,
    'backup',
  ),
  'database.backup.retention': database({ backup: { retention: 9 } }, /\b9\b/, 'backup'),
  'database.backup.storageSize': database(
    { backup: { storageSize: '33Gi' } },
    /"storage": "33Gi"/,
    'backup',
  ),
  'openstack.identityEndpoint': endpoint('identityEndpoint'),
  'openstack.networkEndpoint': endpoint('networkEndpoint'),
  'openstack.computeEndpoint': endpoint('computeEndpoint'),
  'protection.enableMutationPrevention': protection(
    { enableMutationPrevention: true },
    /"preventsMutations": true/,
  ),
  'protection.enableAutoRecovery': protection({ enableAutoRecovery: false }, /"recovers": false/),
  'protection.allowedOperations[]': protection({ allowedOperations: ['delete'] }, /"delete"/),
  'reconcileTrigger.mode': trigger({ mode: 'webhook' }, /mode: webhook/),
  'reconcileTrigger.interval': trigger({ ...scheduled, interval: '7m' }, /interval: 7m/),
  'reconcileTrigger.schedule': trigger({ ...scheduled, schedule: '0 5 * * *' }, /0 5 \* \* \*/),
  'reconcileTrigger.timezone': trigger(
    { ...scheduled, schedule: '0 5 * * *', timezone: 'Asia/Seoul' },
    /timezone: Asia\/Seoul/,
  ),
  'reconcileTrigger.immediateOnCRChange': trigger(
    { ...scheduled, immediateOnCRChange: true },
    /immediateOnCRChange: true/,
  ),
};
