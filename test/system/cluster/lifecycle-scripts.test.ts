import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openScriptsSite, type ScriptsSite } from './scripts-site.ts';

const home = ['-n', 'multinic-system'];
const kind = 'multinicoperators.multinic.example.com';
const managed = {
  'multinic.example.com/protected': 'true',
  'multinic.example.com/managed-by-operator': 'multinic',
};
/** Helm and kubectl wait for no Pod then. */
const withoutPods = [
  '--',
  '--timeout=60s',
  ...['lifecycle.replicas=0', 'viola.replicas=0', 'operator.persistence.enabled=false'].flatMap(
    (value) => ['--set', value],
  ),
];

let site: ScriptsSite;

beforeAll(async () => {
  site = await openScriptsSite('itlifecycle');
});

afterAll(async () => {
  await site?.[Symbol.asyncDispose]();
});

async function succeeds(script: string, ...args: readonly string[]): Promise<string> {
  const { code, output } = await site.run(script, args);
  expect(code, output).toBe(0);
  return output;
}

async function refused(script: string, ...args: readonly string[]): Promise<string> {
  const { code, output } = await site.run(script, args);
  expect(code, output).toBe(1);
  return output;
}

function nameOf(...object: readonly string[]): Promise<string> {
  return site.value('{.metadata.name}', ...object);
}

function base(): Promise<string> {
  return site.value('{.data.deployment\\.yaml}', ...home, 'configmap', 'multinic-controller-base');
}

/** Lifecycle's objects for a MultiNicOperator, with a webhook that never answers. */
async function installedByLifecycle(inventory: 'mariadb' | 'sqlite'): Promise<void> {
  const create = (object: object) =>
    site.cluster.kubectl(['create', '-f', '-'], JSON.stringify(object));
  const metadata = { namespace: 'multinic-system', labels: managed };
  await create({
    apiVersion: 'multinic.example.com/v1alpha1',
    kind: 'MultiNicOperator',
    metadata: {
      name: 'multinic',
      namespace: 'multinic-system',
      finalizers: ['multinic.example.com/operator-finalizer'],
    },
    spec: {},
  });
  const uid = await site.value('{.metadata.uid}', ...home, kind, 'multinic');
  const owner = {
    apiVersion: 'multinic.example.com/v1alpha1',
    kind: 'MultiNicOperator',
    name: 'multinic',
    uid,
  };
  const selector = { app: 'multinic-controller' };
  await create({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: {
      ...metadata,
      name: 'multinic-controller',
      labels: { ...managed, 'app.kubernetes.io/managed-by': 'multinic-lifecycle' },
      ownerReferences: [owner],
    },
    spec: {
      replicas: 0,
      selector: { matchLabels: selector },
      template: {
        metadata: { labels: selector },
        spec: { containers: [{ name: 'operator', image: 'localhost/none:1' }] },
      },
    },
  });
  if (inventory === 'mariadb') {
    await create({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { ...metadata, name: 'mariadb-credentials' },
    });
    await create({
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { ...metadata, name: 'mysql-storage-mariadb-0' },
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
    });
  }
  const service = { namespace: 'multinic-system', name: 'multinic-operator-webhook', path: '/' };
  await create({
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingWebhookConfiguration',
    metadata: { name: 'multinic-protection' },
    webhooks: [
      {
        name: 'vprotection.multinic.example.com',
        admissionReviewVersions: ['v1'],
        sideEffects: 'NoneOnDryRun',
        failurePolicy: 'Fail',
        timeoutSeconds: 1,
        clientConfig: { service },
        objectSelector: { matchLabels: { 'multinic.example.com/protected': 'true' } },
        rules: [
          {
            apiGroups: ['apps'],
            apiVersions: ['v1'],
            operations: ['UPDATE', 'DELETE'],
            resources: ['deployments', 'deployments/scale'],
          },
        ],
      },
    ],
  });
}

describe('deploy-operator.sh --lifecycle', () => {
  it('installs lifecycle, and names the next step', async () => {
    const env = { CONTRABASS_ENDPOINT: 'https://contrabass.example.com/a' };
    const args = ['--lifecycle', ...withoutPods];
    const { code, output } = await site.run('deploy-operator.sh', args, { env });
    expect(code, output).toBe(0);
    expect(output).toContain('Next: create a MultiNicOperator in namespace multinic-system');
    expect(await nameOf(...home, 'deployment', 'multinic-operator')).toBe('multinic-operator');
    expect(await nameOf('crd', kind)).toBe(kind);
    expect(await base()).toContain('value: https://contrabass.example.com/a');
    const level = '{.metadata.labels.pod-security\\.kubernetes\\.io/enforce}';
    expect(await site.value(level, 'namespace', 'multinic-system')).toBe('restricted');
  });

  it('deploy-operator.sh --lifecycle keeps the Contrabass endpoint from the previous run, and sets the image', async () => {
    await succeeds('deploy-operator.sh', '--lifecycle', '--img', 'team/multinic:2', ...withoutPods);
    expect(await base()).toContain('value: https://contrabass.example.com/a');
    const image = '{.spec.template.spec.containers[0].image}';
    expect(await site.value(image, ...home, 'deployment', 'multinic-operator')).toBe(
      'docker.io/team/multinic-controllers:2',
    );
    expect(await base()).toContain('image: docker.io/team/multinic-controllers:2');
  });

  it('deploy-operator.sh refuses --lifecycle beside an installation without lifecycle, and the reverse', async () => {
    const output = await refused('deploy-operator.sh');
    expect(output).toContain('lifecycle installs MultiNIC in namespace multinic-system');
    expect(output).toContain('Next: upgrade lifecycle: ./deploy-operator.sh --lifecycle');
  });
});

describe('cleanup-operator.sh after lifecycle', () => {
  it('cleanup-operator.sh removes protection, MultiNicOperators and release, and keeps passwords and volumes', async () => {
    await installedByLifecycle('mariadb');
    const output = await succeeds('cleanup-operator.sh', '--yes');
    expect(await nameOf('validatingwebhookconfiguration', 'multinic-protection')).toBe('');
    expect(await nameOf(...home, kind, 'multinic')).toBe('');
    expect(await nameOf(...home, 'deployment', 'multinic-controller')).toBe('');
    expect(await nameOf(...home, 'deployment', 'multinic-operator')).toBe('');
    expect(output).toContain('Secrets mariadb-credentials in multinic-system');
    expect(output).toContain('volume claim mysql-storage-mariadb-0 in multinic-system');
    expect(await nameOf(...home, 'secret', 'mariadb-credentials')).toBe('mariadb-credentials');
  });

  it('a later cleanup-operator.sh with --purge and --crds removes passwords, volumes and the CRD', async () => {
    await succeeds('cleanup-operator.sh', '--yes', '--purge', '--crds');
    expect(await nameOf(...home, 'secret', 'mariadb-credentials')).toBe('');
    const claim = [...home, 'persistentvolumeclaim', 'mysql-storage-mariadb-0'];
    // The API server deletes an unused claim at once.
    await expect.poll(() => nameOf(...claim)).toBe('');
    expect(await nameOf('crd', kind)).toBe('');
  });

  it('cleanup-operator.sh removes leftovers of helm uninstall from an installation with SQLite', async () => {
    await succeeds('deploy-operator.sh', '--lifecycle', ...withoutPods);
    await installedByLifecycle('sqlite');
    await site.cluster.kubectl([...home, 'delete', 'deployment', 'multinic-operator']);
    await succeeds('cleanup-operator.sh', '--yes');
    expect(await nameOf('validatingwebhookconfiguration', 'multinic-protection')).toBe('');
    expect(await nameOf(...home, kind, 'multinic')).toBe('');
    expect(await nameOf(...home, 'deployment', 'multinic-controller')).toBe('');
  });
});

it('deploy-operator.sh --lifecycle refuses to install beside an operator from the chart', async () => {
  await site.cluster.kubectl(['create', 'namespace', 'multinic-operator-system']);
  const metadata = {
    name: 'multinic-operator-controller-manager',
    namespace: 'multinic-operator-system',
    labels: { 'app.kubernetes.io/part-of': 'multinic' },
  };
  const selector = { app: 'any' };
  const template = {
    metadata: { labels: selector },
    spec: { containers: [{ name: 'operator', image: 'localhost/none:1' }] },
  };
  const spec = { replicas: 0, selector: { matchLabels: selector }, template };
  const object = { apiVersion: 'apps/v1', kind: 'Deployment', metadata, spec };
  await site.cluster.kubectl(['create', '-f', '-'], JSON.stringify(object));
  const output = await refused('deploy-operator.sh', '--lifecycle');
  expect(output).toContain(
    'MultiNIC is installed without lifecycle in namespace multinic-operator-system',
  );
  expect(output).toContain('./cleanup-operator.sh --nics keep');
});
