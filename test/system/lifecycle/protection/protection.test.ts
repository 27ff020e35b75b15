import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import * as z from 'zod';
import {
  type ControlPlane,
  startControlPlane,
  toolPath,
} from '../../../../rig/control-plane/control-plane.ts';
import { freePorts } from '../../../../rig/parts/free-ports.ts';
import { lifecyclePart } from '../../../../rig/parts/parts.ts';
import { Supervisor } from '../../../../rig/parts/supervisor.ts';
import { systemClock as clock } from '../../../../src/time/clock.ts';
import { scaled } from '../../../speed.ts';
import { type Attempt, allowed, refused } from './attempts.ts';
import { installation } from './installation.ts';

// Lifecycle as a process beside a real API server with its controllers, and without nodes.
const namespace = 'multinic-system';
const lifecycleUser = `system:serviceaccount:${namespace}:multinic-operator`;
const run = promisify(execFile);

let plane: ControlPlane;
let kubectlPath: string;
let editor: string;
let lifecycle: string;
let port: number;
let webhookPort: number;
let directory: string;
let parts: Supervisor;

/** allowed, denied (by the webhook), call failed (webhook unreachable), forbidden (by RBAC), or kubectl's message. */
type Outcome = string;

/** Runs kubectl as a kubeconfig's user, and resolves to the API server's decision. */
async function attempt(
  kubeconfig: string,
  { args, stdin, editor: command }: Attempt,
): Promise<Outcome> {
  const env = { ...process.env, KUBECONFIG: kubeconfig, EDITOR: command ?? 'false' };
  const running = run(kubectlPath, ['-n', namespace, ...args], { env, timeout: 60_000 });
  running.child.stdin?.end(stdin ?? '');
  try {
    await running;
    return 'allowed';
  } catch (error) {
    const said = (error as { stderr: string }).stderr;
    if (said.includes('vprotection.multinic.example.com" denied the request')) return 'denied';
    if (said.includes('failed calling webhook')) return 'call failed';
    return said.includes('forbidden') ? 'forbidden' : said;
  }
}

async function tried(kubeconfig: string, attempts: readonly Attempt[]): Promise<object> {
  const outcomes: Record<string, Outcome> = {};
  for (const one of attempts) outcomes[one.what] = await attempt(kubeconfig, one);
  return outcomes;
}

function all(attempts: readonly Attempt[], outcome: Outcome): object {
  return Object.fromEntries(attempts.map(({ what }) => [what, outcome]));
}

const kubectl = async (...args: string[]): Promise<string> =>
  plane.kubectl(['-n', namespace, ...args]);
const as = (user: string, group: string): readonly string[] => [
  `--as=${user}`,
  `--as-group=${group}`,
  '--as-group=system:masters',
];

const operatorPath = `/apis/multinic.example.com/v1alpha1/namespaces/${namespace}/multinicoperators/production`;
const configurationPath =
  '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/multinic-protection';
const deploymentPath = `/apis/apps/v1/namespaces/${namespace}/deployments/multinic-controller`;
const protectionStatus = z.object({
  status: z.object({
    protectionStatus: z.object({ preventedMutations: z.number(), lastProtectionEvent: z.string() }),
  }),
});
const deployment = z.object({
  metadata: z.object({ uid: z.string() }),
  spec: z.object({
    template: z.object({
      spec: z.object({ containers: z.array(z.object({ image: z.string() })) }),
    }),
  }),
});

async function install(): Promise<void> {
  await plane.kubectl(['create', 'namespace', namespace]);
  await plane.kubectl(['apply', '-f', '-'], JSON.stringify(installation(namespace)));
}

async function start(): Promise<void> {
  await parts.start(
    lifecyclePart({
      kubeconfig: lifecycle,
      port,
      webhookPort,
      webhookHost: plane.machine,
      clock,
      env: { LEASE_DURATION: '3s' },
    }),
  );
  await isProtected();
}

async function stop(): Promise<void> {
  await parts.stop('lifecycle');
}

function isWrite(verb: string): boolean {
  return !['get', 'list', 'watch'].includes(verb);
}

/** Lifecycle's writes, except the lease, in a reconcile caused by a changed annotation. */
async function writesOfReconcile() {
  const begun = new Date();
  const touched = `example.com/touched=${begun.getTime()}`;
  await kubectl('annotate', 'deployment', 'multinic-controller', touched, '--overwrite');
  await clock.sleep(3_000);
  return (await plane.auditLog())
    .filter(({ user, at }) => user === lifecycleUser && at > begun.toISOString())
    .filter(({ verb, resource }) => isWrite(verb) && resource !== 'leases');
}

/** Messages of Events with this reason. */
async function eventsOf(reason: string): Promise<string> {
  const filter = `{range .items[?(@.reason=="${reason}")]}{.message}{"\\n"}{end}`;
  return kubectl('get', 'events', '-o', `jsonpath=${filter}`);
}

/** Waits until the API server calls the webhook: the configuration arrives by a watch. */
async function isProtected(): Promise<void> {
  const probe = {
    what: 'probe',
    args: ['set', 'image', 'deployment/multinic-controller', 'operator=evil:1', '--dry-run=server'],
  };
  // Not `expect.poll`: Vitest supports it only inside tests.
  const look = async () => expect(await attempt(plane.kubeconfig, probe)).toBe('denied');
  await vi.waitFor(look, { timeout: scaled(60_000), interval: 100 });
}

async function image(): Promise<string | undefined> {
  const found = deployment.safeParse(await plane.read(deploymentPath));
  return found.data?.spec.template.spec.containers[0]?.image;
}

beforeAll(async () => {
  plane = await startControlPlane('protect');
  kubectlPath = await toolPath('kubectl');
  editor = await plane.userKubeconfig('editor');
  lifecycle = await plane.userKubeconfig(lifecycleUser, ['system:masters']);
  [port = 0, webhookPort = 0] = await freePorts(2);
  directory = await mkdtemp(join(tmpdir(), 'multinic-protection-'));
  parts = new Supervisor(directory, clock);
  const crd = join(
    import.meta.dirname,
    '../../../../deploy/crds/multinic.example.com_multinicoperators.yaml',
  );
  await plane.kubectl(['apply', '--server-side', '-f', '-'], await readFile(crd, 'utf8'));
  await plane.kubectl([
    'wait',
    '--for=condition=Established',
    'crd/multinicoperators.multinic.example.com',
  ]);
  await install();
  await start();
});

afterAll(async () => {
  await parts?.[Symbol.asyncDispose]();
  await plane?.down();
  if (directory) await rm(directory, { recursive: true });
});

describe('protection of managed objects', () => {
  it('the webhook refuses every change by an administrator and a namespace admin, and counts all but dry runs', async () => {
    const outcomes = await Promise.all([tried(plane.kubeconfig, refused), tried(editor, refused)]);
    expect(outcomes).toEqual([all(refused, 'denied'), all(refused, 'denied')]);
    const counted = 2 * refused.filter(({ isDryRun }) => !isDryRun).length;
    await expect
      .poll(async () => protectionStatus.safeParse(await plane.read(operatorPath)).data?.status)
      .toMatchObject({ protectionStatus: { preventedMutations: counted } });
    expect(await image()).toBe('multinic:v1alpha1');
    const events = await kubectl('get', 'events', '-o', 'jsonpath={.items[*].reason}');
    expect(events).toContain('MutationPrevented');
  });

  it('the webhook allows changes without effect on content, and changes to unmanaged objects', async () => {
    const outcomes = await Promise.all([tried(plane.kubeconfig, allowed), tried(editor, allowed)]);
    expect(outcomes).toEqual([all(allowed, 'allowed'), all(allowed, 'allowed')]);
  });

  it('the webhook reads objects as large as the API server stores them', async () => {
    const metadata = {
      name: 'large',
      namespace,
      labels: { 'multinic.example.com/protected': 'true' },
    };
    const data = { large: 'x'.repeat(900 * 1024) };
    const object = JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata, data });
    await plane.kubectl(['create', '-f', '-'], object);
    const edit = {
      what: 'edit',
      args: ['patch', 'configmap', 'large', '-p', '{"data":{"a":"b"}}'],
    };
    expect(await attempt(plane.kubeconfig, edit)).toBe('denied');
    await kubectl('annotate', 'configmap', 'large', 'example.com/note=1');
  });

  it('lets an administrator delete the configuration, and a namespace admin not; it comes back', async () => {
    const removal = {
      what: 'delete of the configuration',
      args: ['delete', 'validatingwebhookconfiguration', 'multinic-protection'],
    };
    expect(await attempt(editor, removal)).toBe('forbidden');
    expect(await attempt(plane.kubeconfig, removal)).toBe('allowed');
    await isProtected();
  });

  it('lifecycle writes nothing without a change', async () => {
    // A later reconcile updates the status after the configuration returns.
    await expect.poll(writesOfReconcile).toEqual([]);
  });

  it('pauses protection and recovery while the glass is broken', async () => {
    const until = new Date(Date.now() + 3_600_000).toISOString();
    await kubectl('annotate', 'mno', 'production', `multinic.io/break-glass=${until}`);
    await expect.poll(async () => plane.read(configurationPath)).toBeUndefined();
    const edit = {
      what: 'set image',
      args: ['set', 'image', 'deployment/multinic-controller', 'operator=hotfix:1'],
    };
    await expect.poll(async () => attempt(plane.kubeconfig, edit)).toBe('allowed');
    await expect
      .poll(async () => eventsOf('RecoveryOff'))
      .toContain('Deployment multinic-controller: kubectl-set changed');
    expect(await image()).toBe('hotfix:1');
    await kubectl('annotate', 'mno', 'production', 'multinic.io/break-glass-');
    await expect.poll(image).toBe('multinic:v1alpha1');
    await isProtected();
  });

  it('repairs a deleted and a changed object where mutations are not prevented, and names who changed it', async () => {
    await kubectl(
      'patch',
      'mno',
      'production',
      '--type=merge',
      '-p',
      '{"spec":{"protection":{"enableMutationPrevention":false}}}',
    );
    await expect.poll(async () => plane.read(configurationPath)).toBeUndefined();
    const { metadata } = deployment.parse(await plane.read(deploymentPath));
    await expect
      .poll(async () =>
        attempt(plane.kubeconfig, {
          what: 'delete',
          args: ['delete', 'deployment', 'multinic-controller'],
        }),
      )
      .toBe('allowed');
    await expect
      .poll(
        async () =>
          deployment.safeParse(await plane.read(deploymentPath)).data?.metadata.uid ?? metadata.uid,
      )
      .not.toBe(metadata.uid);
    await kubectl('set', 'image', 'deployment/multinic-controller', 'operator=evil:1');
    await expect.poll(image).toBe('multinic:v1alpha1');
    await kubectl('label', 'service', 'mariadb', 'multinic.example.com/protected-');
    await expect
      .poll(async () =>
        kubectl('get', 'service', '-l', 'multinic.example.com/protected=true', '-o', 'name'),
      )
      .toContain('mariadb');
    await expect
      .poll(async () =>
        kubectl(
          'get',
          'events',
          '-o',
          'jsonpath={range .items[?(@.reason=="ObjectRecovered")]}{.message}{"\\n"}{end}',
        ),
      )
      .toContain(
        'Service mariadb: a client removed .metadata.labels["multinic.example.com/protected"]',
      );
    await kubectl(
      'patch',
      'mno',
      'production',
      '--type=merge',
      '-p',
      '{"spec":{"protection":{"enableMutationPrevention":true}}}',
    );
    await isProtected();
  });
});

describe('the cluster while lifecycle is down', () => {
  beforeAll(stop);

  it("the failed webhook call refuses users' edits", async () => {
    expect(await tried(plane.kubeconfig, refused)).toEqual(all(refused, 'call failed'));
    expect(await tried(editor, allowed)).toEqual(all(allowed, 'allowed'));
  });

  it('lets HPA, controllers, nodes and evictions work', async () => {
    const scale = ['scale', 'deployment', 'multinic-controller', '--replicas=2'];
    const hpa = as(
      'system:serviceaccount:kube-system:horizontal-pod-autoscaler',
      'system:serviceaccounts:kube-system',
    );
    await kubectl(...scale, ...hpa);
    // The Deployment controller follows the new template, which only lifecycle may write.
    await kubectl(
      'set',
      'image',
      'deployment/multinic-controller',
      'operator=multinic:v2',
      ...as(lifecycleUser, 'system:authenticated'),
    );
    await expect
      .poll(async () =>
        kubectl(
          'get',
          'replicasets',
          '-o',
          'jsonpath={.items[*].spec.template.spec.containers[0].image}',
        ),
      )
      .toContain('multinic:v2');
    const node = as('system:node:n1', 'system:nodes');
    await kubectl(
      'patch',
      'service',
      'mariadb',
      '--type=merge',
      '-p',
      '{"spec":{"sessionAffinity":"ClientIP"}}',
      ...node,
    );
    const [pod = ''] = (await kubectl('get', 'pods', '-l', 'app=mariadb', '-o', 'name')).split(
      '\n',
    );
    const name = pod.replace('pod/', '');
    const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name, namespace } };
    await plane.kubectl(
      ['create', '--raw', `/api/v1/namespaces/${namespace}/pods/${name}/eviction`, '-f', '-'],
      JSON.stringify(eviction),
    );
  });

  it('lets the garbage collector delete managed objects', async () => {
    await kubectl('create', 'configmap', 'owner');
    const uid = await kubectl('get', 'configmap', 'owner', '-o', 'jsonpath={.metadata.uid}');
    const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid };
    const labels = { 'multinic.example.com/protected': 'true' };
    const metadata = { name: 'dependent', namespace, labels, ownerReferences: [owner] };
    await plane.kubectl(
      ['create', '-f', '-'],
      JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata }),
    );
    await kubectl('delete', 'configmap', 'owner');
    const gone = `/api/v1/namespaces/${namespace}/configmaps/dependent`;
    await expect.poll(async () => plane.read(gone)).toBeUndefined();
  });

  it('lets the namespace controller delete everything', async () => {
    await kubectl(
      'patch',
      'mno',
      'production',
      '--type=merge',
      '-p',
      '{"metadata":{"finalizers":null}}',
    );
    await plane.kubectl(['delete', 'namespace', namespace, '--wait=false']);
    await expect.poll(async () => plane.read(`/api/v1/namespaces/${namespace}`)).toBeUndefined();
  });
});

describe('deletion of the namespace', () => {
  it('protection ends when the namespace is deleted, and lifecycle removes the webhook configuration', async () => {
    await plane.kubectl(['delete', 'validatingwebhookconfiguration', 'multinic-protection']);
    await install();
    await start();
    await plane.kubectl(['delete', 'namespace', namespace, '--wait=false']);
    await expect.poll(async () => plane.read(`/api/v1/namespaces/${namespace}`)).toBeUndefined();
    expect(await plane.read(configurationPath)).toBeUndefined();
  });
});
