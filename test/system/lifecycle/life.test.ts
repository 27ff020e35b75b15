import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { mariadbImage } from '../../../rig/mariadb-image/mariadb-image.ts';
import type { Attachment } from '../../../rig/openstack/tenant.ts';
import {
  acquaint,
  addressOf,
  attach,
  expectGone,
  expectReach,
  untilConfigured,
} from '../../fixtures/e2e/acts.ts';
import { namespace } from '../../fixtures/e2e/ground.ts';
import { commandsOf, nameOf } from '../../requirements/commands.ts';
import { outcomes } from '../../requirements/outcomes.ts';
import { expectOutcome } from '../e2e/guide/seed-command.ts';
import { run } from '../e2e/guide/shell.ts';
import {
  agentJobs,
  deniedImage,
  inventoryRows,
  kubectl,
  operatorName,
  patient,
  podsOf,
  rootSql,
  secondsSince,
  statusOf,
  untilStatus,
} from './acts.ts';
import {
  expectSiteObjects,
  folderOf,
  makeBackup,
  onNode,
  setImage,
  testDrills,
  untilRestored,
} from './drills.ts';
import { applyDirectConfig, type LifecycleClusters, openWorld } from './world.ts';

const say = (line: string): void => void process.stdout.write(`${line}\n`);
const running = { phase: 'Running', controllerStatus: { readyReplicas: 3 } };
/** The long suite also upgrades MariaDB, and watches longer. */
const isLong = process.env['MULTINIC_TEST_DEPTH'] === 'all';
const restMs = isLong ? 300_000 : 30_000;
const ofMariadb = 'app=mariadb';
const ofController = 'app=multinic-controller';

let world: LifecycleClusters;
let first: Attachment;

beforeAll(async () => {
  world = await openWorld(say);
});

afterAll(async () => {
  await world?.[Symbol.asyncDispose]();
});

/** Commands from document 002 that need a MultiNicOperator, in order. */
const ofLifecycle = commandsOf('002').filter((command) => {
  const outcome = outcomes['002'][nameOf(command)];
  return outcome !== undefined && 'on' in outcome && outcome.on === 'lifecycle';
});
const [installs, ...others] = ofLifecycle.filter(({ text }) => text.startsWith('kubectl apply'));
const deletes = (text: string): boolean => text.startsWith('kubectl delete multinicoperator');

it('the MultiNicOperator from document 002 is Running', async () => {
  expect(others).toEqual([]);
  const began = performance.now();
  const { identity, network, compute } = world.endpoints;
  const text = (installs?.text ?? '')
    .replace('http://192.0.2.101:5000/v3', identity)
    .replace('http://192.0.2.101:9696/v2.0', network)
    .replace('http://192.0.2.101:8774/v2.1', compute);
  expect(text).not.toContain('192.0.2.101');
  await run({ cwd: world.shell.cwd, env: world.shell.env }, text);
  await untilStatus(world, {
    phase: 'Running',
    message: 'All components are running successfully',
    databaseStatus: { version: expect.stringMatching(/^10\.11\./) as unknown },
  });
  say(`from kubectl apply to Running: ${secondsSince(began)} (limit 90 s)`);
  const status = await statusOf(world.management);
  expect(status).toMatchObject({
    controllerStatus: { phase: 'Ready', readyReplicas: 2, desiredReplicas: 2 },
    databaseStatus: { phase: 'Ready', readyReplicas: 1 },
    protectionStatus: { active: true, preventedMutations: 0 },
  });
});

describe('commands in document 002', () => {
  const ordered = ofLifecycle.filter(
    ({ text }) => !text.startsWith('kubectl apply') && !deletes(text),
  );
  it.each(ordered.map((command) => [nameOf(command), command] as const))(
    '%s',
    async (name, command) => {
      const outcome = outcomes['002'][name];
      if (!outcome) throw new Error(`test/requirements/outcomes.ts has no row for ${name}`);
      const { shell } = world;
      await expectOutcome(
        { management: shell, business: shell, lifecycle: shell },
        command,
        outcome,
      );
    },
  );

  it('three replicas run afterwards', () => untilStatus(world, running));
});

it("the NIC for an attached port is Configured through lifecycle's operator", async () => {
  await applyDirectConfig(world);
  first = await attach(world);
  await untilConfigured(world, 'multinic0');
  await acquaint(world, first);
  await expectReach(world, addressOf(first));
  await vi.waitFor(
    async () => expect(await inventoryRows(world)).toContain(first.port_id),
    patient,
  );
});

describe('MariaDB', () => {
  /** State that must survive all changes to MariaDB. */
  let before: { readonly jobs: readonly string[]; readonly rows: string };

  beforeAll(async () => {
    before = { jobs: await agentJobs(world), rows: await inventoryRows(world) };
  });

  async function expectNothingLost(): Promise<void> {
    await vi.waitFor(async () => expect(await inventoryRows(world)).toBe(before.rows), patient);
    expect(await agentJobs(world)).toEqual(before.jobs);
  }

  it('MariaDB survives a SIGKILL with all data', async () => {
    const began = performance.now();
    await world.manager.sh([
      'sh',
      '-c',
      'c="/var/lib/node-parts/bin/ctr -n k8s.io"; for id in $($c containers ls -q); do $c containers info $id | grep -q \'"io.kubernetes.container.name": "mariadb"\' && $c tasks kill -s SIGKILL $id; done; true',
    ]);
    await vi.waitFor(
      async () =>
        expect(Object.values(await podsOf(world, ofMariadb))).toEqual([
          expect.stringMatching(/ [1-9]/),
        ]),
      patient,
    );
    await untilStatus(world, running);
    say(`after SIGKILL: ${secondsSince(began)}`);
    await expectNothingLost();
  });

  it('MariaDB returns after its Pod is deleted', async () => {
    const [uid] = Object.values(await podsOf(world, ofMariadb));
    await kubectl(world, 'delete', 'pod', 'mariadb-0');
    await vi.waitFor(
      async () => expect(Object.values(await podsOf(world, ofMariadb))).not.toEqual([uid]),
      patient,
    );
    await untilStatus(world, running);
    await expectNothingLost();
  });

  it('a backup is restored with a view and a trigger by root, before the passwords change', async () => {
    await rootSql(
      world,
      'CREATE TABLE site_audit (what TEXT); CREATE VIEW site_report AS SELECT COUNT(*) AS n FROM multi_interface; CREATE TRIGGER site_trigger AFTER INSERT ON change_log FOR EACH ROW INSERT INTO site_audit VALUES (NEW.name)',
    );
    await makeBackup(world, 'by-hand');
    await untilStatus(world, { databaseStatus: { lastBackup: { verified: true } } });
    await rootSql(
      world,
      'DROP VIEW site_report; DROP TRIGGER site_trigger; DELETE FROM multi_interface',
    );
    const requests = ['multinic.io/restore=latest', 'multinic.io/rotate-credentials=life'];
    await kubectl(world, 'annotate', '--overwrite', 'multinicoperator', operatorName, ...requests);
    await untilRestored(world, 'latest');
    await vi.waitFor(async () => {
      const secret = await kubectl(world, 'get', 'secret', 'mariadb-credentials', '-o', 'yaml');
      expect(secret).toContain('multinic.io/rotate-credentials: life');
      expect((await statusOf(world.management))?.databaseStatus?.operation).toBeUndefined();
    }, patient);
    await untilStatus(world, running);
    await expectSiteObjects(world);
    await expectNothingLost();
    const accepted = (await statusOf(world.management))?.conditions?.find(
      ({ type }) => type === 'Accepted',
    );
    expect(accepted?.message).toContain('"latest" succeeded at');
  });

  async function untilRepaired(): Promise<void> {
    await untilStatus(world, running);
    await expectSiteObjects(world);
    await expectNothingLost();
  }

  testDrills(() => world, { expectNothingLost, untilRepaired });

  it.each(isLong ? (['11.8'] as const) : [])(
    'MariaDB is upgraded to %s after a backup, and refuses a downgrade',
    async (series) => {
      const version = `mariadb:${series}`;
      await world.manager.importImage(await mariadbImage(series));
      const { lastBackup } = (await statusOf(world.management))?.databaseStatus ?? {};
      await setImage(world, version);
      await untilStatus(world, running);
      await vi.waitFor(async () => {
        const { databaseStatus } = (await statusOf(world.management)) ?? {};
        expect(databaseStatus?.version).toMatch(/^11\.8\./);
        expect(databaseStatus?.lastBackup?.file).not.toBe(lastBackup?.file);
      }, patient);
      await expectNothingLost();
      // A volume after a killed upgrade: only our mark names 11.8.
      await onNode(
        world,
        `cd ${await folderOf(world, 'mysql-storage-mariadb-0')}; for info in mysql_upgrade_info mariadb_upgrade_info; do [ ! -e $info ] || echo 10.11.19-MariaDB >$info; done`,
      );
      await setImage(world, 'mariadb:10.11');
      await vi.waitFor(async () => {
        const status = await statusOf(world.management);
        expect(status?.phase).toBe('Error');
        expect(status?.message).toMatch(/MariaDB 11\.8\.\d+ has opened the data/);
      }, patient);
      await setImage(world, version);
      await untilStatus(world, running);
      await expectNothingLost();
    },
  );
});

it(
  'at rest lifecycle writes nothing',
  async () => {
    await untilStatus(world, running);
    const since = Date.now();
    // Pods from the previous restore may still change: a single quiet interval among three excludes a write loop.
    await vi.waitFor(
      async () => {
        expect(Date.now() - since).toBeGreaterThan(restMs);
        expect(await writesSince(new Date(Date.now() - restMs))).toEqual([]);
      },
      { timeout: 3 * restMs, interval: 1_000 },
    );
  },
  4 * restMs + 60_000,
);

async function writesSince(since: Date) {
  const account = `system:serviceaccount:${namespace}:multinic-operator`;
  return (await world.management.auditLog()).filter(
    ({ at, user, verb, resource, dryRun }) =>
      at > since.toISOString() &&
      user === account &&
      !dryRun &&
      ['create', 'update', 'patch', 'delete'].includes(verb) &&
      !['leases', 'selfsubjectaccessreviews', 'tokenreviews'].includes(resource),
  );
}

describe('two replicas of lifecycle', () => {
  it('both replicas count refused changes in the same status field', async () => {
    await kubectl(world, 'scale', 'deployment/multinic-operator', '--replicas=2');
    await kubectl(world, 'rollout', 'status', 'deployment/multinic-operator', '--timeout=120s');
    const { preventedMutations = 0 } = (await statusOf(world.management))?.protectionStatus ?? {};
    let late = 0;
    for (let at = 0; at < 8; at++) late += await deniedImage(world, `*=evil:${at}`);
    await vi.waitFor(async () => {
      const counted = (await statusOf(world.management))?.protectionStatus?.preventedMutations ?? 0;
      expect(counted).toBeGreaterThanOrEqual(preventedMutations + 8);
      expect(counted).toBeLessThanOrEqual(preventedMutations + 8 + late);
    }, patient);
  });

  it('ending the leader restarts no Pod', async () => {
    const pods = [await podsOf(world, ofMariadb), await podsOf(world, ofController)];
    const holder = await kubectl(
      world,
      'get',
      'lease',
      'multinic-lifecycle',
      '-o',
      'jsonpath={.spec.holderIdentity}',
    );
    await kubectl(
      world,
      'delete',
      'pod',
      holder.split('_')[0] ?? '',
      '--grace-period=0',
      '--force',
    );
    await vi.waitFor(async () => {
      const now = await kubectl(
        world,
        'get',
        'lease',
        'multinic-lifecycle',
        '-o',
        'jsonpath={.spec.holderIdentity}',
      );
      expect(now).not.toBe(holder);
    }, patient);
    await kubectl(world, 'rollout', 'status', 'deployment/multinic-operator', '--timeout=120s');
    await untilStatus(world, running);
    expect([await podsOf(world, ofMariadb), await podsOf(world, ofController)]).toEqual(pods);
  });
});

describe('without any replica of lifecycle', () => {
  it('a port is attached and detached, through an eviction and a restart', async () => {
    await kubectl(world, 'scale', 'deployment/multinic-operator', '--replicas=0');
    await vi.waitFor(
      async () => expect(Object.keys(await podsOf(world, 'app=multinic-operator'))).toEqual([]),
      patient,
    );
    const second = await attach(world);
    await untilConfigured(world, 'multinic0', 'multinic1');
    const [evicted = ''] = Object.keys(await podsOf(world, ofController));
    await world.management.kubectl(
      ['create', '--raw', `/api/v1/namespaces/${namespace}/pods/${evicted}/eviction`, '-f', '-'],
      JSON.stringify({
        apiVersion: 'policy/v1',
        kind: 'Eviction',
        metadata: { name: evicted, namespace },
      }),
    );
    await kubectl(world, 'delete', 'pods', '-l', ofController, '--wait=false');
    await kubectl(world, 'rollout', 'status', 'deployment/multinic-controller', '--timeout=180s');
    await world.tenant.detach(world.server.id, second.port_id);
    await expectGone(world, 'multinic1');
    await untilConfigured(world, 'multinic0');
  });
});

describe('the end', () => {
  it('deleting the MultiNicOperator deletes all dependents; data and NICs stay', async () => {
    await kubectl(world, 'scale', 'deployment/multinic-operator', '--replicas=1');
    await kubectl(world, 'rollout', 'status', 'deployment/multinic-operator', '--timeout=120s');
    const command = ofLifecycle.find(({ text }) => deletes(text));
    await run({ cwd: world.shell.cwd, env: world.shell.env }, command?.text ?? '');
    expect(await statusOf(world.management)).toBeUndefined();
    const left = await kubectl(
      world,
      'get',
      'deployments,statefulsets,cronjobs,secrets,pvc',
      '-o',
      'name',
    );
    expect(left).not.toMatch(/multinic-controller|statefulset|cronjob/);
    expect(left).toMatch(/secret\/mariadb-credentials/);
    expect(left).toMatch(/persistentvolumeclaim\/mysql-storage-mariadb-0/);
    await untilConfigured(world, 'multinic0');
  });

  it('the namespace ends by itself with a MultiNicOperator in it', async () => {
    // Without an operator, as cleanup-operator.sh does it: the NIC stays. The Pod ends after its Deployment, and would add the
    // finalizer again.
    await kubectl(world, 'wait', 'pods', '-l', ofController, '--for=delete', '--timeout=60s');
    const finalizers = ['-p', '{"metadata":{"finalizers":[]}}'];
    await kubectl(world, 'patch', 'osc', 'e2e', '--type=merge', ...finalizers);
    await kubectl(world, 'delete', 'osc', 'e2e', '--timeout=60s');
    const spec = {
      // The volume has data from the previous server.
      database: {
        enabled: true,
        storageSize: '20Gi',
        image: isLong ? 'mariadb:11.8' : 'mariadb:10.11',
      },
      protection: { enableMutationPrevention: true },
    };
    const metadata = { name: operatorName, namespace };
    const object = {
      apiVersion: 'multinic.example.com/v1alpha1',
      kind: 'MultiNicOperator',
      metadata,
      spec,
    };
    await world.management.kubectl(['create', '-f', '-'], JSON.stringify(object));
    await untilStatus(world, { phase: 'Running', protectionStatus: { active: true } });
    const began = performance.now();
    await world.management.kubectl(['delete', 'namespace', namespace, '--timeout=120s']);
    say(`end of the namespace: ${secondsSince(began)}`);
    expect(
      await world.management.kubectl(['get', 'validatingwebhookconfigurations', '-o', 'name']),
    ).not.toContain('multinic');
  });
});
