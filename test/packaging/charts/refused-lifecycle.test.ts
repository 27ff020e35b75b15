import { expect, it } from 'vitest';
import { render } from './helm.ts';

type Row = readonly [values: Readonly<Record<string, object>>, says: string];

/** Values that a MultiNicOperator decides, with what the message says after the path. */
const decidedByLifecycle: readonly Row[] = [
  [
    { operator: { replicas: 0 } },
    'operator.replicas is 0, and with lifecycle.enabled the MultiNicOperator decides: leave it out, and set spec.controller.replicas there',
  ],
  [
    {
      operator: {
        settings: { dbHost: 'db.example.com' },
        secretSettings: { dbPassword: { name: 'db', key: 'password' } },
      },
    },
    'operator.settings.dbHost is db.example.com, and with lifecycle.enabled the MultiNicOperator decides: leave it out, and set spec.database.enabled there, or DB_HOST in spec.controller.env',
  ],
  [
    { operator: { trigger: { mode: 'manual' } } },
    'operator.trigger.mode is manual, and with lifecycle.enabled the MultiNicOperator decides: leave it out, and set spec.reconcileTrigger.mode there',
  ],
  [
    { operator: { persistence: { existingClaim: 'mariadb-backup' } } },
    'operator.persistence.existingClaim is mariadb-backup, a volume of MariaDB: name a claim for SQLite, or leave it out',
  ],
  [
    { operator: { podLabels: { app: 'own' } } },
    'operator.podLabels has app, which the chart sets with lifecycle.enabled: take another label',
  ],
];

/** Values of lifecycle itself that cannot be. */
const ofLifecycle: readonly Row[] = [
  [
    { lifecycle: { settings: { webhookListen: ':8082' } } },
    'lifecycle.settings.webhookListen is :8082, the port of lifecycle.settings.listen: say another one, such as :9443',
  ],
  [
    { lifecycle: { resources: { limits: { memory: '128Mi' } } } },
    'lifecycle.resources.limits.memory is 128Mi, and a heap of 96 MB needs 190Mi: raise it, or lower lifecycle.heap.old',
  ],
];

it.each([...decidedByLifecycle, ...ofLifecycle])(
  'values that lifecycle cannot use are refused with what to do: %j',
  async (values, says) => {
    const lifecycle = { enabled: true, ...values['lifecycle'] };
    const rendered = render({ chart: 'multinic-operator', values: { ...values, lifecycle } });
    await expect(rendered).rejects.toThrow(`these values cannot be used:\n${says}\n`);
  },
);

it.each(decidedByLifecycle.slice(0, 3))('are no mistake without lifecycle: %j', async (values) => {
  await expect(render({ chart: 'multinic-operator', values })).resolves.toContain('Deployment');
});
