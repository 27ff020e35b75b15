import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { identities } from '../../rig/chain/identities.ts';
import { about } from '../../test/fixtures/about.ts';
import { ControllerFixture } from '../../test/fixtures/controller.ts';
import { entry } from '../../test/fixtures/controller-samples.ts';
import { tapConnections } from '../../test/fixtures/tapped-connections.ts';
import { roles, setRules } from '../../test/rbac/roles.ts';
import { metricTable } from '../api/metrics.ts';
import { annotations } from '../api/names.ts';
import { crds, leases } from '../kube/core-resources.ts';
import { createHealth } from '../process/health.ts';
import { createLogger } from '../process/log.ts';
import { createMetrics } from '../process/metrics.ts';
import type { PartContext } from '../process/part.ts';
import { readSettings, SettingsError } from '../process/settings.ts';
import { jittered } from '../time/backoff.ts';
import { systemClock, systemRandom } from '../time/clock.ts';
import { goDuration } from './health.ts';
import { controllerSettings, jobDeadlineSeconds, limitOf } from './settings.ts';
import { startController } from './start.ts';

type Context = PartContext<typeof metricTable>;

let fixture: ControllerFixture;

beforeAll(async () => {
  fixture = await ControllerFixture.start();
});

afterAll(async () => {
  await fixture[Symbol.asyncDispose]();
});

/** Starts the part as main does; returns its URL and handles to stop it. */
async function start(server = fixture.api.url, others: Partial<Context> = {}) {
  const stop = new AbortController();
  const url = Promise.withResolvers<string>();
  const write = (line: string): void => {
    const logged = JSON.parse(line) as { msg: string; url?: string };
    if (logged.msg === 'controller started' && logged.url) url.resolve(logged.url);
  };
  const kubeconfig = await fixture.api.kubeconfig({
    ...fixture.api.accessAs(identities.controller),
    server,
  });
  const done = startController(
    readSettings(controllerSettings, { env: {}, flags: { kubeconfig, listen: '127.0.0.1:0' } }),
    {
      clock: systemClock,
      random: systemRandom,
      log: createLogger({ part: 'controller', level: 'info', destination: { write } }),
      metrics: createMetrics(metricTable),
      health: createHealth(),
      about,
      exit: () => undefined,
      ...others,
    },
    stop.signal,
  );
  return { url: await url.promise, stop, done };
}

const lease = { namespace: 'multinic-system', name: 'multinic-agent-controller' };

describe('startController', () => {
  it('the controller takes the lease, reconciles, serves health and metrics, and releases the lease on stop', async () => {
    await fixture.addNode('worker-1');
    const { url, stop, done } = await start();
    await fixture.apply('worker-1', { interfaces: [entry(0)] });
    await fixture.untilReady('worker-1', 'True AllInterfacesConfigured');
    expect((await fixture.admin.get(leases, lease)).spec?.holderIdentity).toMatch(/^controller_/);

    const health = await fetch(`${url}/healthz`);
    expect(health.status).toBe(200);
    expect(await health.json()).toMatchObject({
      status: 'healthy',
      uptime: expect.stringMatching(/^\d+s$/) as unknown,
      processed_configs: 1,
      active_jobs: 0,
      crd_watcher_status: 'running',
      last_crd_processed: expect.stringMatching(/^\d{4}-.*Z$/) as unknown,
    });
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
    const metrics = await (await fetch(`${url}/metrics`)).text();
    expect(metrics).toContain('multinic_job_results_total{outcome="ok"} 1');
    expect(metrics).toContain('multinic_node_configs{state="Configured"} 1');
    expect(metrics).toContain('multinic_interfaces{state="Configured"} 1');
    expect(metrics).toContain('multinic_leader{lease="multinic-agent-controller"} 1');

    stop.abort(new Error('stop'));
    await done;
    expect(fixture.api.objects('events', 'multinic-system')).toMatchObject([
      { type: 'Normal', reason: 'AllInterfacesConfigured', involvedObject: { name: 'worker-1' } },
    ]);
    expect(
      (await fixture.admin.get(leases, lease)).spec?.holderIdentity || undefined,
    ).toBeUndefined();
    await expect(fetch(`${url}/healthz`)).rejects.toThrow();
  });
});

const isLease = (path: string): boolean => path.includes('/leases');

it('lease requests use a separate connection that carries no other request', async () => {
  await using tapped = await tapConnections(fixture.api.url);
  const { stop, done } = await start(tapped.url);
  const renewals = (): number => tapped.paths.flat().filter(isLease).length;
  await expect.poll(renewals).toBeGreaterThan(3);
  stop.abort(new Error('stop'));
  await done;
  const used = tapped.paths.filter((paths) => paths.some(isLease));
  expect(used.flat().filter((path) => !isLease(path))).toEqual([]);
  expect(tapped.paths.length).toBeGreaterThan(used.length);
});

const pod = { name: 'controller-1', namespace: 'multinic-system', uid: 'u' };
const random = () => 0.4321;
/** System clock whose 30 s retry pause for missing rights and fields takes 50 ms. */
const impatient = {
  ...systemClock,
  sleep: (ms: number, signal?: AbortSignal) =>
    systemClock.sleep(ms === jittered(30_000, random) ? 50 : ms, signal),
};

it('[RW-58] the controller is not ready while a right is missing, and recovers without a restart', async () => {
  const role = { namespace: 'multinic-agents', name: 'multinic-controller' };
  const rules = await setRules(fixture.admin, roles, role, (all) =>
    all.filter(({ resources }) => !resources.includes('configmaps')),
  );
  const { url, stop, done } = await start(fixture.api.url, { clock: impatient, random, pod });
  const failing = async () =>
    ((await (await fetch(`${url}/readyz`)).json()) as { failing: Record<string, string> }).failing;
  await expect.poll(failing).toMatchObject({
    rights:
      'missing right: create configmaps in multinic-agents (Role multinic-controller in multinic-agents), and 1 more; the log has a kubectl command for each',
  });
  expect((await fetch(`${url}/healthz`)).status).toBe(200);
  const warnings = () =>
    fixture.api
      .objects('events', 'multinic-system')
      .filter((event) => JSON.stringify(event).includes('"name":"controller-1"'));
  await expect.poll(warnings).toMatchObject([{ reason: 'RightsMissing', type: 'Warning' }]);
  await setRules(fixture.admin, roles, role, () => rules);
  await expect.poll(failing).toEqual({});
  stop.abort(new Error('stop'));
  await done;
});

it('[RW-71] the controller is not ready and does not lead while its CRD lacks fields', async () => {
  const crd = { name: 'multinicnodeconfigs.multinic.io' };
  const old = { metadata: { annotations: { [annotations.schema]: null } } };
  const { metadata } = await fixture.admin.get(crds, crd);
  await fixture.admin.patch(crds, crd, old);
  const { url, stop, done } = await start(fixture.api.url, { clock: impatient, random });
  const ready = async () => (await fetch(`${url}/readyz`)).text();
  const holder = async () => (await fixture.admin.find(leases, lease))?.spec?.holderIdentity;
  await expect.poll(ready).toContain('kubectl apply --server-side');
  expect(await holder()).toBeFalsy();
  await fixture.admin.patch(crds, crd, { metadata: { annotations: metadata.annotations } });
  await expect.poll(ready).toContain('"status":"ok"');
  await expect.poll(holder).toMatch(/^controller_/);
  stop.abort(new Error('stop'));
  await done;
});

describe('controller settings', () => {
  it("settings read the legacy controller's environment variables", () => {
    const env = {
      CONTROLLER_NAMESPACE: 'ns',
      AGENT_IMAGE: 'registry/agent:1',
      CONTROLLER_SA_NAME: 'sa',
      CONTROLLER_JOB_TTL: '3600',
    };
    expect(readSettings(controllerSettings, { env, flags: {} })).toMatchObject({
      namespace: 'ns',
      agentNamespace: 'multinic-agents',
      agentImage: 'registry/agent:1',
      agentImagePullSecrets: [],
      agentServiceAccount: 'sa',
      jobTtlSeconds: 3600,
      takeOver: false,
    });
  });

  it('[RW-75] settings name every unusable value', () => {
    const env = { CONTROLLER_JOB_TTL: '10m', AGENT_IMAGE_PULL_POLICY: 'Sometimes' };
    const read = () => readSettings(controllerSettings, { env, flags: { 'max-in-flight': '0' } });
    expect(read).toThrow(SettingsError);
    expect(read).toThrow(/CONTROLLER_JOB_TTL: "10m".*\n?.*/);
    expect(read).toThrow(/AGENT_IMAGE_PULL_POLICY: "Sometimes"/);
    expect(read).toThrow(/--max-in-flight: "0" must be between 1 and 1000/);
  });

  it.each([
    ['20', 1_000, 20],
    ['10%', 1_000, 100],
    ['10%', 3, 1],
    ['100%', 0, 1],
  ])('max-in-flight %s with %d Nodes gives limit %d', (text, nodes, limit) => {
    const read = readSettings(controllerSettings, { env: {}, flags: { 'max-in-flight': text } });
    expect(limitOf(read.maxInFlight, nodes)).toBe(limit);
  });

  it.each([
    [30_000, 600],
    [120_000, 600],
    [1_200_000, 1_680],
  ])('the deadline of a Job with the start deadline %d ms is %d s', (startMs, seconds) => {
    expect(jobDeadlineSeconds(startMs)).toBe(seconds);
  });

  it.each(['0%', '101%', '1.5', '10 %', '-1'])('max-in-flight %s is refused', (text) => {
    const flags = { 'max-in-flight': text };
    expect(() => readSettings(controllerSettings, { env: {}, flags })).toThrow(/1% to 100%/);
  });
});

it.each([
  [0, '0s'],
  [59_999, '59s'],
  [600_000, '10m0s'],
  [8_130_000, '2h15m30s'],
])('an uptime with %i ms is shown as %s', (ms, text) => {
  expect(goDuration(ms)).toBe(text);
});
