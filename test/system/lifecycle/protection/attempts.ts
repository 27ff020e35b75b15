/** One way to tamper with a managed object, by kubectl in lifecycle's namespace. */
export interface Attempt {
  readonly what: string;
  readonly args: readonly string[];
  readonly stdin?: string;
  /** The API server asks the webhook, and nothing is stored either way. */
  readonly isDryRun?: true;
  /** Editor command for `kubectl edit`. */
  readonly editor?: string;
}

const controller = ['deployment', 'multinic-controller'] as const;
const merge = (target: readonly string[], patch: object): readonly string[] => [
  'patch',
  ...target,
  '--type=merge',
  '-p',
  JSON.stringify(patch),
];
const protectedLabel = 'multinic.example.com/protected';
const strangers = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  name: 'absent',
  uid: '11111111-2222-3333-4444-555555555555',
};
const template = (image: string) => ({
  metadata: { labels: { app: 'multinic-controller' } },
  spec: { containers: [{ name: 'operator', image }] },
});
const replacement = JSON.stringify({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'multinic-controller' },
  spec: {
    selector: { matchLabels: { app: 'multinic-controller' } },
    template: template('evil:1'),
  },
});

/** Refused while lifecycle runs; while lifecycle is down, the webhook call fails. */
export const refused: readonly Attempt[] = [
  {
    what: 'edit of the image',
    args: ['edit', ...controller],
    editor: 'sed -i s/multinic:v1alpha1/evil:1/',
  },
  {
    what: 'set image',
    args: ['set', 'image', 'deployment/multinic-controller', 'operator=evil:1'],
  },
  { what: 'scale of the Deployment', args: ['scale', ...controller, '--replicas=0'] },
  { what: 'scale of the StatefulSet', args: ['scale', 'statefulset', 'mariadb', '--replicas=0'] },
  { what: 'removal of the label', args: ['label', ...controller, `${protectedLabel}-`] },
  {
    what: 'label false and spec at once',
    args: merge(controller, {
      metadata: { labels: { [protectedLabel]: 'false' } },
      spec: { paused: true },
    }),
  },
  { what: 'delete of the Deployment', args: ['delete', ...controller, '--wait=false'] },
  {
    what: 'delete of the StatefulSet with orphans',
    args: ['delete', 'statefulset', 'mariadb', '--cascade=orphan', '--wait=false'],
  },
  { what: 'delete of the Service', args: ['delete', 'service', 'mariadb', '--wait=false'] },
  {
    what: 'delete by label',
    args: ['delete', 'deployments', '-l', `${protectedLabel}=true`, '--wait=false'],
  },
  {
    what: 'change of the Secret',
    args: merge(['secret', 'mariadb-credentials'], { stringData: { password: 'two' } }),
  },
  {
    what: 'delete of the Secret',
    args: ['delete', 'secret', 'mariadb-credentials', '--wait=false'],
  },
  {
    what: 'delete of the claim',
    args: ['delete', 'pvc', 'mysql-storage-mariadb-0', '--wait=false'],
  },
  {
    what: 'change of the triggers',
    args: merge(['configmap', 'multinic-operator-triggers'], {
      data: { 'trigger.yaml': 'mode: manual' },
    }),
  },
  {
    what: 'suspension of the CronJob',
    args: merge(['cronjob', 'mariadb-backup'], { spec: { suspend: true } }),
  },
  {
    what: 'other selector of the Service',
    args: merge(['service', 'mariadb'], { spec: { selector: { app: 'evil' } } }),
  },
  {
    what: 'replace --force',
    args: ['replace', '--force', '-f', '-'],
    stdin: replacement,
  },
  {
    what: 'forced server-side apply',
    args: ['apply', '--server-side', '--force-conflicts', '-f', '-'],
    stdin: JSON.stringify({
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'multinic-controller' },
      spec: { replicas: 7 },
    }),
  },
  {
    what: 'owner reference to an absent owner',
    args: merge(['service', 'mariadb'], { metadata: { ownerReferences: [strangers] } }),
  },
  {
    what: 'dry run of an edit',
    args: ['set', 'image', 'deployment/multinic-controller', 'operator=evil:1', '--dry-run=server'],
    isDryRun: true,
  },
  { what: 'rollout restart', args: ['rollout', 'restart', ...controller] },
];

/** Allowed, with lifecycle and without. */
export const allowed: readonly Attempt[] = [
  {
    what: 'foreign annotation',
    args: ['annotate', ...controller, 'velero.io/backup-name=nightly', '--overwrite'],
  },
  { what: 'delete of Pods', args: ['delete', 'pods', '-l', 'app=multinic-controller'] },
  {
    what: "change of lifecycle's Role",
    args: ['annotate', 'role', 'multinic-lifecycle', 'example.com/note=1', '--overwrite'],
  },
];
