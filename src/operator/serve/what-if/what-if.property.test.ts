import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { attach, detach, type Scene, serverIds, setScene } from '../../testing/scene.ts';
import { editedObject, readEdit } from './edit.ts';
import { storedPlanView } from './store-plan.ts';
import { lastPlan } from './stored-plan.ts';

const { signal } = new AbortController();

/** A port's server, subnet, status and age, and whether the port is detached before the what-if. */
const port = fc.record({
  server: fc.integer({ min: 1, max: 3 }),
  subnet: fc.constantFrom('sub-a', 'sub-b'),
  status: fc.constantFrom('ACTIVE', 'ACTIVE', 'DOWN', 'BUILD'),
  createdAt: fc.constantFrom('2025-01-01T00:00:00Z', '2026-01-01T00:00:10Z'),
  detaches: fc.constantFrom(true, false, false),
});

const orNone = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: null, freq: 9 });
const [first = '', second = '', third = ''] = serverIds;

const edit = fc.record(
  {
    subnetIDs: orNone(fc.constantFrom(['sub-a'], ['sub-b'], ['sub-a', 'sub-b'], ['sub-gone'])),
    subnetName: orNone(fc.constantFrom('subnet-b', 'nowhere')),
    vmNames: orNone(
      fc.constantFrom([first], [second, third], [first, 'worker-3'], serverIds, ['nobody', first]),
    ),
    vmSelector: orNone(fc.constant({ metadata: { role: 'gpu' } })),
    settings: fc.record(
      {
        openstackPortAllowedStatuses: orNone(
          fc.constantFrom(['ACTIVE'], ['ACTIVE', 'BUILD'], ['*']),
        ),
        portBaseline: orNone(fc.constantFrom('All', 'All', 'CreatedAfterConfig', 'yesterday')),
        addressFamilies: orNone(fc.constantFrom(['IPv4'], ['IPv6', 'IPv4'], ['IPv6'])),
        maxInterfaces: orNone(fc.integer({ min: 1, max: 3 })),
        mode: orNone(fc.constantFrom('Apply', 'Observe')),
        routing: orNone(fc.constantFrom('isolated', 'pbr', 'main')),
      },
      { requiredKeys: [] },
    ),
  },
  { requiredKeys: [] },
);

type Ports = typeof port extends fc.Arbitrary<infer Port> ? readonly Port[] : never;

/** Returns a scene with cloud changes since the last sync. */
async function changedScene(ports: Ports): Promise<Scene> {
  const scene = await setScene();
  scene.cloud.vms = scene.cloud.vms.map((vm, at) =>
    at === 1 ? { ...vm, metadata: { role: 'gpu' } } : vm,
  );
  for (const [at, { server, subnet, status, createdAt }] of ports.entries()) {
    attach(scene.cloud, at + 1, server);
    const last = scene.cloud.ports.pop();
    if (!last) throw new Error('no port was attached');
    const fixedIps = [
      { subnetId: subnet, ipAddress: `10.0.${subnet === 'sub-a' ? 10 : 20}.${at + 1}` },
    ];
    scene.cloud.ports.push({ ...last, fixedIps, status, createdAt });
  }
  scene.create();
  await scene.look();
  for (const [at, { detaches }] of ports.entries()) if (detaches) detach(scene.cloud, at + 1);
  await scene.clock.advance(600_000);
  return scene;
}

async function whatIf(scene: Scene, body: unknown) {
  const object = scene.object();
  if (!object) throw new Error('no OpenstackConfig');
  try {
    return { view: await scene.planRoutes().whatIf(object, readEdit(body), signal), reason: '' };
  } catch (error) {
    const { code, errors } = error as { code?: string; errors?: readonly { reason?: string }[] };
    return { view: undefined, reason: code === 'InvalidEdit' ? errors?.[0]?.reason : code };
  }
}

/** Applies the edit and syncs; returns plan, OpenStack calls and all effects. */
async function syncAfter(scene: Scene, body: unknown) {
  const object = scene.object();
  if (!object) throw new Error('no OpenstackConfig');
  const before = scene.cloud.calls;
  scene.kube.edit(editedObject(object, readEdit(body)).spec);
  const requeueAfterMs = await scene.reconcile(0);
  const memory = scene.memory();
  const stored = memory && lastPlan.of(memory.term);
  const isPlanned = stored?.generation === 2;
  return {
    calls: scene.cloud.calls - before,
    view: isPlanned ? storedPlanView(stored) : undefined,
    left: { requeueAfterMs, ...(await traces(scene)), log: scene.lines.length },
  };
}

/** Returns all effects, and all state changed by effects. */
async function traces(scene: Scene) {
  return {
    status: scene.status(),
    effects: scene.effects,
    writes: scene.kube.writes,
    posts: scene.viola.posts,
    removals: scene.viola.removals,
    checks: scene.viola.checks,
    nodes: [...scene.viola.nodes.values()],
    events: scene.events,
    brokers: [...scene.brokerSecrets.brokers.keys(), ...scene.notifications.brokers.keys()],
    records: await scene.store.list({}),
  };
}

/** In four tests, because one would exceed the time limit on a busy machine. */
const runsPerTest = 50;

it.each([1, 2, 3, 4])(
  '[%i/4] a what-if equals the plan of the sync after the edit, leaves no trace, and sends at most as many reads',
  async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(port, { minLength: 4, maxLength: 7 }),
        edit,
        async (ports, body) => {
          await using visited = await changedScene(ports);
          await using other = await changedScene(ports);
          const before = structuredClone(await traces(visited));
          const callsBefore = visited.cloud.calls;
          const { view, reason } = await whatIf(visited, body);
          const calls = visited.cloud.calls - callsBefore;
          expect(await traces(visited)).toEqual(before);
          const [after, without] = [await syncAfter(visited, body), await syncAfter(other, body)];
          expect(after.left).toEqual(without.left);
          expect(calls).toBeLessThanOrEqual(without.calls);
          if (!view) {
            expect(visited.ready()).toMatch(new RegExp(`^False ${reason}: `));
            return;
          }
          const { hash: _h, calculatedAt: _c, generation: _g, dryRun, ...planned } = view;
          expect(after.view).toMatchObject(planned);
          expect(dryRun?.validated).toBe(true);
          const posted = planned.nodes.filter(
            ({ action }) => action === 'create' || action === 'update',
          );
          expect(dryRun?.answer?.applied).toBe(posted.length);
        },
      ),
      { numRuns: runsPerTest },
    );
  },
);
