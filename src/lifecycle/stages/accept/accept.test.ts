import { describe, expect, it } from 'vitest';
import { annotations } from '../../../api/names.ts';
import type { Accepted, Problem } from '../../model/accepted.ts';
import type { OperatorObject } from '../../model/multinicoperator.ts';
import {
  databaseWith as database,
  databaseStages,
  type StageName,
  stages,
  unusableFields,
} from '../../testing/unusable-fields.ts';
import { accept } from './accept.ts';
import { whyNotOurs } from './one-per-cluster.ts';

const now = new Date('2026-11-26T10:00:00Z');

function operatorOf(spec: unknown, given: Record<string, string> = {}): OperatorObject {
  const metadata = { namespace: 'multinic-system', name: 'production-system', annotations: given };
  return { metadata, spec };
}

const accepted = (spec: unknown, given?: Record<string, string>): Accepted =>
  accept(operatorOf(spec, given), now);

/** Returns problems by stage, without stages that have none. */
function problemsOf(found: Accepted): Partial<Record<StageName, readonly Problem[]>> {
  const all = stages.flatMap((stage) => {
    const { problems } = found[stage];
    return problems ? [[stage, problems] as const] : [];
  });
  return Object.fromEntries(all);
}

const allowed = (words: readonly string[]) => [
  ...(accepted({ protection: { allowedOperations: words } }).protection.value?.allowed ?? []),
];
const at = (text: string) => accepted({}, { [annotations.breakGlass]: text });
const fourStages = ['credentials', 'database', 'backup', 'controller'] as const;

describe('accept', () => {
  it.each(unusableFields)(
    'accept names an unusable field and stops only its stage: %s',
    (_what, spec, field, expected) => {
      const found = problemsOf(accepted(spec));
      expect(Object.keys(found).toSorted()).toEqual([...expected].toSorted());
      for (const problems of Object.values(found)) {
        expect(problems.map((one) => one.field)).toEqual([field]);
        const [{ message } = { message: '' }] = problems;
        expect(message.startsWith(field)).toBe(true);
        // The fix follows the error.
        expect(message).toMatch(/; | use at most /);
      }
    },
  );

  it.each<[string, unknown, string, readonly StageName[]]>([
    ['a spec that is a list', [], 'spec', stages],
    ['a database that is a text', { database: 'yes' }, 'spec.database', fourStages],
    [
      'a flag that is a text',
      { database: { enabled: 'yes' } },
      'spec.database.enabled',
      fourStages,
    ],
    [
      'replicas that are a text',
      { controller: { replicas: 'two' } },
      'spec.controller.replicas',
      ['controller'],
    ],
    [
      'an env that is an object',
      { controller: { env: {} } },
      'spec.controller.env',
      ['controller'],
    ],
    [
      'a port that is a text',
      database({ service: { port: '3306' } }),
      'spec.database.service.port',
      databaseStages,
    ],
    [
      'triggers that are a text',
      { reconcileTrigger: 'manual' },
      'spec.reconcileTrigger',
      ['triggers'],
    ],
    ['a protection that is a number', { protection: 1 }, 'spec.protection', ['protection']],
  ])('accept names a field with the wrong type: %s', (_what, spec, field, expected) => {
    const found = problemsOf(accepted(spec));
    expect(Object.keys(found).toSorted()).toEqual([...expected].toSorted());
    const [[{ field: named } = { field: '' }] = []] = Object.values(found);
    expect(named).toBe(field);
  });

  it('accept never shows a password or an environment value in a problem', () => {
    const found = accepted({
      ...database({ credentials: { password: { topsecret: 1 }, rootPassword: 424_242 } }),
      controller: { env: [{ name: 'A', value: 424_242 }] },
      openstack: { identityEndpoint: 'http://a:topsecret@keystone' },
    });
    const text = JSON.stringify(problemsOf(found));
    expect(text).toContain('spec.database.credentials.rootPassword');
    expect(text).toContain('spec.controller.env[0].value');
    expect(text).not.toMatch(/424242|topsecret/);
  });
});

describe('accept, with a usable spec', () => {
  it.each([undefined, null, {}, { controller: null, database: null, protection: null }])(
    'accept gives the spec %j the defaults',
    (spec) => {
      const found = accepted(spec);
      expect(problemsOf(found)).toEqual({});
      expect(found.database.value).toBeUndefined();
      expect(found.triggers.value).toBeUndefined();
      expect(found.controller.value).toEqual({
        resources: {},
        env: [],
        inventory: 'sqlite',
        openstackDefaults: {},
      });
      expect(found.protection.value).toEqual({
        preventsMutations: false,
        recovers: true,
        allowed: new Set(),
      });
    },
  );

  it('accept gives an enabled database the defaults', () => {
    const found = accepted(database({}));
    expect(found.credentials.value).toEqual({ database: 'multinic', user: 'multinic' });
    expect(found.backup.value).toEqual({ schedule: '0 3 * * *', retention: 7 });
    expect(found.database.value).toEqual({
      image: 'mariadb:10.11',
      storageSize: '10Gi',
      resources: {},
      service: { type: 'ClusterIP', port: 3306 },
    });
  });

  it("accept writes quantities in the API server's canonical form", () => {
    const resources = { cpu: '1000m', memory: '1024Mi' };
    const found = accepted({
      controller: { resources },
      database: { enabled: true, storageSize: '2048Mi', resources },
    });
    expect(found.controller.value?.resources).toEqual({ cpu: '1', memory: '1Gi' });
    expect(found.database.value?.resources).toEqual({ cpu: '1', memory: '1Gi' });
    expect(found.database.value?.storageSize).toBe('2Gi');
  });

  it.each([
    ['quotes, backslash and newline', `a'b"c\\d\ne\`f$g`],
    ['200 bytes', '가'.repeat(66) + 'ab'],
  ])('accept leaves a password with %s unchanged', (_what, password) => {
    expect(accepted(database({ credentials: { password } })).credentials.value?.password).toBe(
      password,
    );
  });

  it.each([
    'mariadb:10.11',
    'docker.io/library/mariadb:10.11',
    'registry.example.com:5000/multinic/controllers:v1.0.0',
    'localhost:5000/a__b/c-d.e@sha256:' + 'a'.repeat(64),
    '[fd00::1]:5000/multinic',
  ])('accept allows the image %s', (image) => {
    expect(accepted({ controller: { image } }).controller.value?.image).toBe(image);
  });

  it.each(['0 3 * * *', '*/15 0-5,20 1,15 JAN-DEC mon-fri', '? ? ? ? ?', '0 0 29 2 *'])(
    'accept allows the schedule %s',
    (schedule) => {
      expect(accepted(database({ backup: { schedule } })).backup.value?.schedule).toBe(schedule);
    },
  );

  it('accept treats an empty schedule as no backups', () => {
    expect(accepted(database({ backup: { schedule: '' } })).backup.value).toEqual({ retention: 7 });
  });

  it('accept treats DB_HOST as an external database, which allows several replicas', () => {
    const { controller } = accepted({
      controller: { replicas: 3, env: [{ name: 'DB_HOST', value: 'db.example.com' }] },
      database: { enabled: false },
    });
    expect(controller.value?.inventory).toBe('external');
    expect(controller.value?.replicas).toBe(3);
  });

  it('accept converts default endpoints to operator settings', () => {
    const openstack = {
      identityEndpoint: 'http://192.0.2.101:5000/v3',
      networkEndpoint: 'http://192.0.2.101:9696/v2.0',
      computeEndpoint: 'https://192.0.2.101:8774/v2.1',
    };
    expect(accepted({ openstack }).controller.value?.openstackDefaults).toEqual({
      OPENSTACK_DEFAULT_AUTH_URL: openstack.identityEndpoint,
      OPENSTACK_DEFAULT_NEUTRON_ENDPOINT: openstack.networkEndpoint,
      OPENSTACK_DEFAULT_NOVA_ENDPOINT: openstack.computeEndpoint,
    });
  });

  it('accept writes only the given fields to trigger.yaml', () => {
    const reconcileTrigger = { mode: 'scheduled', interval: '15m' };
    expect(accepted({ reconcileTrigger }).triggers.value).toBe('mode: scheduled\ninterval: 15m\n');
  });

  it('allowedOperations treats update and patch alike, and ignores reads', () => {
    expect(allowed(['get', 'list', 'watch'])).toEqual([]);
    expect(allowed(['update'])).toEqual(['update']);
    expect(allowed(['patch', 'delete', 'scale'])).toEqual(['update', 'delete', 'scale']);
  });
});

describe('accept, with break-glass', () => {
  it.each(['2026-11-26T12:00:00Z', '2026-11-26T21:00:00+09:00', '2026-11-26T14:00:00Z'])(
    'break-glass pauses protection until %s',
    (text) => {
      const { protection, ignored } = at(text);
      expect(protection.value?.breakGlassUntil).toEqual(new Date(text));
      expect(ignored).toEqual([]);
    },
  );

  it.each([
    ['in the past', '2026-11-26T09:59:59Z'],
    ['in ten days', '2026-12-06T10:00:00Z'],
    ['three hours too far, as by a wrong clock', '2026-11-26T17:00:00Z'],
    ['without a zone', '2026-11-26T12:00:00'],
    ['yes', 'true'],
  ])('a break-glass time %s leaves protection on and is named', (_what, text) => {
    const { protection, ignored = [] } = at(text);
    expect(protection.value?.breakGlassUntil).toBeUndefined();
    expect(ignored.map(({ field }) => field)).toEqual([
      'metadata.annotations[multinic.io/break-glass]',
    ]);
    expect(ignored[0]?.message).toContain(text);
  });
});

it('a MultiNicOperator whose name exceeds a label value is refused', () => {
  const long: OperatorObject = { metadata: { namespace: 'a', name: 'n'.repeat(64) } };
  expect(whyNotOurs(long, [long], 'a', 30)?.field).toBe('metadata.name');
  const short: OperatorObject = { metadata: { namespace: 'a', name: 'n'.repeat(63) } };
  expect(whyNotOurs(short, [short], 'a', 30)).toBeUndefined();
});
