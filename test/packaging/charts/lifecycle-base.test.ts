import type { ConfigMap } from 'kubernetes-types/core/v1.js';
import { expect, it } from 'vitest';
import { managedObjects } from '../../../src/api/names.ts';
import { planOf } from '../../../src/lifecycle/stages/managed-controller/testing/scene.ts';
import { type Manifest, manifestsIn, ofKind } from '../../repo/charts/manifests.ts';
import { render } from './helm.ts';

const chart = 'multinic-operator';
const namespace = 'multinic-system';

async function rendered(values: object): Promise<Manifest[]> {
  return manifestsIn(await render({ chart, values }, '--namespace', namespace));
}

/** What lifecycle applies for a MultiNicOperator without a spec. */
async function byLifecycle(values: object): Promise<Manifest[]> {
  const manifests = await rendered({ ...values, lifecycle: { enabled: true } });
  const [base] = ofKind<ConfigMap>(manifests, 'ConfigMap').filter(
    ({ metadata }) => metadata?.name === managedObjects.controllerBase,
  );
  const plan = planOf({ data: base?.data ?? {} });
  expect(plan.notices).toEqual([]);
  return plan.apply.map(({ object }) => object as Manifest);
}

/** What the chart installs of the operator itself, by kind and name. */
async function byChart(values: object): Promise<Map<string, Manifest>> {
  const ours = (await rendered(values)).filter(
    ({ kind = '', metadata }) =>
      ['Deployment', 'Service'].includes(kind) &&
      metadata?.labels?.['app.kubernetes.io/component'] === 'operator',
  );
  return new Map(ours.map((one) => [`${one.kind} ${one.metadata?.name}`, one]));
}

/** Paths at which two values differ. */
function differences(one: unknown, other: unknown, path = ''): string[] {
  if (!isObject(one) || !isObject(other)) {
    return JSON.stringify(one) === JSON.stringify(other) ? [] : [path];
  }
  const keys = new Set([...Object.keys(one), ...Object.keys(other)]);
  return [...keys].flatMap((key) => differences(one[key], other[key], `${path}/${key}`)).toSorted();
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

const labels = [
  '/metadata/labels/app.kubernetes.io/managed-by',
  '/metadata/labels/multinic.example.com/managed-by-operator',
  '/metadata/labels/multinic.example.com/protected',
];
const ofPods = labels.map((path) => `/spec/template${path}`);
const owner = '/metadata/ownerReferences';

const expected: Readonly<Record<string, readonly string[]>> = {
  Deployment: [
    ...labels,
    ...ofPods,
    owner,
    '/metadata/labels/app',
    '/metadata/name',
    // A MultiNicOperator without a spec leaves the replicas to the API server and to autoscalers.
    '/spec/replicas',
    '/spec/template/metadata/labels/app',
    '/spec/template/spec/serviceAccountName',
    // Needed as soon as an autoscaler sets several replicas.
    '/spec/template/spec/topologySpreadConstraints',
  ],
  Service: [...labels, owner],
};

it.each<[string, object]>([
  ['default values', {}],
  [
    'a trigger endpoint, a CA and settings',
    {
      operator: {
        trigger: { endpoint: { tokensSecret: 'callers', tlsSecret: 'tls' } },
        caBundle: { configMap: 'corporate-ca' },
        settings: { logLevel: 'debug', listen: ':9082', downPortFastRetryMax: 16 },
        podLabels: { team: 'network' },
        podAnnotations: { 'example.com/cost': '42' },
        extraVolumes: [{ name: 'more', secret: { secretName: 'more' } }],
        extraVolumeMounts: [{ name: 'more', mountPath: '/more' }],
      },
    },
  ],
])(
  'lifecycle and chart install the same operator but for names and labels: %s',
  async (_, values) => {
    const [installed, applied] = await Promise.all([byChart(values), byLifecycle(values)]);
    expect(applied).toHaveLength(installed.size);
    for (const one of applied) {
      const name =
        one.kind === 'Deployment' ? 'multinic-operator-controller-manager' : one.metadata?.name;
      const twin = installed.get(`${one.kind} ${name}`);
      expect(twin, name).toBeDefined();
      expect(differences(twin, one)).toEqual([...(expected[one.kind ?? ''] ?? [])].toSorted());
    }
  },
);

it('the base holds a disruption budget, which lifecycle applies from two replicas on', async () => {
  const manifests = await rendered({ lifecycle: { enabled: true } });
  const [base] = ofKind<ConfigMap>(manifests, 'ConfigMap');
  const wanted = { replicas: 2, inventory: 'external' } as const;
  const plan = planOf({ data: base?.data ?? {}, wanted });
  const kinds = plan.apply.map(({ resource }) => resource.kind);
  expect(kinds).toContain('PodDisruptionBudget');
});
