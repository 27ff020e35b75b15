import type { Seed } from './commands.ts';

/** `lifecycle`: a management cluster whose operator a MultiNicOperator installs. */
export type Cluster = 'management' | 'business' | 'lifecycle';

/** A command as it runs against an installation. */
export interface Running {
  readonly on: Cluster;
  readonly prints?: RegExp;
  /** It goes on until somebody ends it: `prints` is what it is expected to say before. */
  readonly endless?: true;
  /** It needs a terminal: grep writes line by line to nothing else. */
  readonly terminal?: true;
  /** Script of sed that stands for the editor of kubectl. */
  readonly edits?: string;
  /** Exit status above 0: the cluster refuses it. */
  readonly refused?: true;
  /** What runs in another terminal meanwhile. */
  readonly beside?: string;
}

/** What becomes of a command of a document. */
export type Outcome =
  | ({ readonly kind: 'runs' } & Running)
  /** Runs when words of it are replaced; what replaces them may be a substitution of the shell. */
  | ({
      readonly kind: 'runs with';
      readonly values: Readonly<Record<string, string>>;
    } & Running)
  /** Asks a person; the answer is a line. */
  | {
      readonly kind: 'interactive';
      readonly on: Cluster;
      readonly answer: string;
      readonly prints: RegExp;
    }
  /** Takes minutes or another machine, and is run there; here `make` only says what it would do. */
  | { readonly kind: 'runs elsewhere'; readonly where: string }
  /** Has a row in docs/differences.md, which begins with these words; `instead` is what that row says. */
  | {
      readonly kind: 'difference';
      readonly row: string;
      readonly instead?: Running & { readonly command: string };
    };

type Without<K extends Outcome['kind'], Fields extends string> = Omit<
  Extract<Outcome, { kind: K }>,
  'kind' | Fields
>;

const runs = (on: Cluster, prints: RegExp, how: Partial<Running> = {}): Outcome => ({
  kind: 'runs',
  on,
  prints,
  ...how,
});
const runsWith = (
  values: Readonly<Record<string, string>>,
  how: Without<'runs with', 'values'>,
): Outcome => ({ kind: 'runs with', values, ...how });
const elsewhere = (where: string): Outcome => ({ kind: 'runs elsewhere', where });
const lifecycle = (prints: RegExp, how: Partial<Running> = {}): Outcome =>
  runs('lifecycle', prints, how);
const differs = (row: string, command?: string, prints?: RegExp): Outcome => ({
  kind: 'difference',
  row,
  ...(command === undefined
    ? {}
    : { instead: { on: 'business', command, ...(prints === undefined ? {} : { prints }) } }),
});

const jobs = 'kubectl get jobs -n multinic-agents';
const newestJob = `${jobs} -l app.kubernetes.io/name=multinic-agent --sort-by=.metadata.creationTimestamp -o name | tail -1`;
const nodeId = "$(kubectl get nodes -o 'jsonpath={.items[0].status.nodeInfo.systemUUID}')";
const sample = (name: string): Outcome =>
  runs(
    'business',
    new RegExp(`^multinicbizconfig\\.multinic\\.io/${name} (created|configured|unchanged)$`, 'm'),
  );
const quotes =
  "`kubectl get multinicclusterconfigs -A -o custom-columns=…[?(@.type=='Applied')].status`";
const inJobsNamespace = '`kubectl -n multinic-system get jobs`';
const agentEnds = '`kubectl exec <agent-pod>';
const otherWords = '`grep DetectActiveInterfaces`';

/** Every command of the documents by its name (`nameOf`), in their order. The objects are those that the guides make. */
export const outcomes: Readonly<Record<Seed, Readonly<Record<string, Outcome>>>> = {
  '000': {
    'kubectl -n multinic-operator-system get pods': runs(
      'management',
      /^multinic-operator-controller-manager-\S+ +1\/1 +Running/m,
    ),
    'kubectl -n multinic-operator-system logs deploy/multinic-operator-controller-manager --since=10m':
      runs('management', /"msg":/),
    'kubectl -n multinic-operator-system port-forward svc/multinic-operator-inventory-service 18081:18081':
      runs('management', /^Forwarding from 127\.0\.0\.1:18081 -> 18081$/m, { endless: true }),
    'curl -s "http://127.0.0.1:18081/v1/inventory/node-configs?providerId=<provider-id>"': runsWith(
      { '<provider-id>': 'biz-1' },
      {
        on: 'management',
        prints: /"providerId":"biz-1".*"nodeName":"worker-1".*"portId":"/,
        beside:
          'kubectl -n multinic-operator-system port-forward svc/multinic-operator-inventory-service 18081:18081',
      },
    ),
    'kubectl -n multinic-system get openstackconfig <name> -o yaml': runsWith(
      { '<name>': 'first' },
      { on: 'management', prints: /lastSyncedAt: / },
    ),
    'kubectl -n multinic-system annotate openstackconfig <name> multinic.io/reconcile-at="$(date +%s)" --overwrite':
      runsWith({ '<name>': 'first' }, { on: 'management', prints: /first annotated/ }),
  },
  '001': {},
  '002': {
    'make build': runs('management', /^dist: \d+ files/m),
    'make test': elsewhere('.ci/run'),
    'make docker-build IMG=multinic:v1alpha1': elsewhere('test/packaging/dockerfiles.test.ts'),
    'make docker-buildx IMG=multinic:v1alpha1': elsewhere('test/packaging/images.test.ts'),
    'make install': runs(
      'management',
      /openstackconfigs\.multinic\.example\.com serverside-applied/,
    ),
    'kubectl apply -f config/manager/db-secret.yaml': differs('`config/manager/db-secret.yaml`'),
    'make deploy IMG=multinic:v1alpha1': runs('management', /STATUS: deployed/),
    'kubectl logs -f deployment/multinic-controller -n multinic-system | grep "trigger"': lifecycle(
      /"msg":"[^"]*trigger/,
      { endless: true, terminal: true },
    ),
    'make test-integration': elsewhere('.ci/run'),
    'make test-coverage': elsewhere('package.json'),
    'make run': elsewhere('test/system/e2e/guides.test.ts'),
    'make lint': elsewhere('test/check'),
    'make fmt': runs('management', /Checked \d+ files/),
    'make vet': elsewhere('test/check'),
    './deploy-operator.sh': runs('management', /STATUS: deployed/),
    'kubectl apply -f - <<EOF': lifecycle(/production-system (created|configured|unchanged)/),
    'kubectl get multinicoperator -n multinic-system': lifecycle(
      /^production-system +Running +Ready +Ready +true +/m,
    ),
    'kubectl get pods,svc,deployments -l multinic.example.com/protected=true -n multinic-system':
      lifecycle(/pod\/mariadb-0 [^]*service\/mariadb [^]*deployment\.apps\/multinic-controller /),
    'kubectl logs -f deployment/multinic-operator -n multinic-system': lifecycle(/"msg":/, {
      endless: true,
    }),
    'kubectl edit multinicoperator production-system -n multinic-system': lifecycle(
      /production-system edited/,
      { edits: 's/^( +)enableAutoRecovery: true/&\\n\\1allowedOperations: [get]/' },
    ),
    'kubectl edit deployment multinic-controller -n multinic-system': lifecycle(
      /admission webhook "vprotection\.multinic\.example\.com" denied the request/,
      { edits: 's/^( +)replicas: .*/\\1replicas: 7/', refused: true },
    ),
    [`kubectl patch multinicoperator production-system -n multinic-system --type='merge' -p='{"spec":{"controller":{"replicas":3}}}'`]:
      lifecycle(/production-system patched/),
    'kubectl get validatingwebhookconfiguration': lifecycle(/^multinic-protection +2 /m),
    'kubectl get pods -n multinic-system --show-labels': runs(
      'business',
      /app\.kubernetes\.io\/component=controller/,
    ),
    [`kubectl patch multinicoperator production-system -n multinic-system --type='merge' -p='{"metadata":{"finalizers":[]}}'`]:
      lifecycle(/production-system patched/),
    'curl http://operator-pod:8082/healthz': runsWith(
      { 'operator-pod': '127.0.0.1' },
      {
        on: 'lifecycle',
        prints: /ok/,
        beside: 'kubectl -n multinic-system port-forward deployment/multinic-operator 8082',
      },
    ),
    'curl http://controller-pod:8082/healthz': runsWith(
      { 'controller-pod': '127.0.0.1' },
      {
        on: 'management',
        prints: /ok/,
        beside:
          'kubectl -n multinic-operator-system port-forward deployment/multinic-operator-controller-manager 8082',
      },
    ),
    // Without a password the server answers all the same, and the exit status is 0.
    'kubectl exec -it mariadb-0 -n multinic-system -- mysqladmin ping': lifecycle(
      /mysqld is alive|Access denied for user/,
    ),
    './cleanup-operator.sh': {
      kind: 'interactive',
      on: 'management',
      answer: 'no',
      prints: /remove MultiNIC and keep all NICs\? \(yes\/no\)[^]*nothing was done/,
    },
    'kubectl delete multinicoperator production-system -n multinic-system': lifecycle(
      /"production-system" deleted/,
    ),
  },
  '003': {
    './scripts/build-and-deploy.sh --type dev': runs('business', /STATUS: deployed/),
    './scripts/build-and-deploy.sh --type staging': runsWith(
      { staging: 'staging --skip-build' },
      { on: 'business', prints: /STATUS: deployed/ },
    ),
    './scripts/build-and-deploy.sh --type production': runsWith(
      { production: 'production --skip-build' },
      { on: 'business', prints: /STATUS: deployed/ },
    ),
    'helm install multinic-agent deployments/helm/ --namespace multinic-system --create-namespace':
      differs(
        'chart in `deployments/helm`',
        'helm install multinic-agent charts/multinic-agent --namespace multinic-system --create-namespace --dry-run=server',
        /STATUS: pending-install/,
      ),
    'helm install multinic-agent deployments/helm/ --namespace multinic-system --values deployments/helm/values-production.yaml':
      differs(
        'chart in `deployments/helm`',
        'helm install multinic-agent charts/multinic-agent --namespace multinic-system --values charts/multinic-agent/values-production.yaml --dry-run=server',
        /STATUS: pending-install/,
      ),
    'helm install multinic-agent deployments/helm/ --namespace multinic-system --set controller.image.tag=v1.0.0 --set controller.replicas=2':
      differs(
        'chart in `deployments/helm`',
        'helm install multinic-agent charts/multinic-agent --namespace multinic-system --set controller.image.tag=v1.0.0 --set controller.replicas=2 --dry-run=server',
        /replicas: 2[^]*multinic-controllers:v1\.0\.0/,
      ),
    'kubectl get deployment -n multinic-system multinic-agent-controller': runs(
      'business',
      /^multinic-agent-controller +(\d)\/\1 /m,
    ),
    'kubectl get pods -n multinic-system -l app.kubernetes.io/component=controller': runs(
      'business',
      /^multinic-agent-controller-\S+ +1\/1 +Running/m,
    ),
    'kubectl get multinicclusterconfigs -A': runs(
      'business',
      /^(No resources found|NAMESPACE +NAME +PROVIDER +NODES +CONFIGURED +FAILED +PENDING +APPLIED +AGE)$/m,
    ),
    'kubectl get jobs -n multinic-system -l app.kubernetes.io/name=multinic-agent': differs(
      inJobsNamespace,
      `${jobs} -l app.kubernetes.io/name=multinic-agent`,
      /^multinic-agent-worker-1-/m,
    ),
    'kubectl logs -n multinic-system -l app.kubernetes.io/component=controller -f': runs(
      'business',
      /"msg":/,
      { endless: true },
    ),
    'kubectl apply -f test/sample-multinicclusterconfig-dev.yaml': sample('dev-cluster-network'),
    'kubectl apply -f test/sample-multinicclusterconfig.yaml': sample('production-cluster-network'),
    'kubectl port-forward -n multinic-system deployment/multinic-agent-controller 8080:8080': runs(
      'business',
      /^Forwarding from 127\.0\.0\.1:8080 -> 8080$/m,
      { endless: true },
    ),
    // Of two replicas one watches, and kubectl takes either.
    'curl http://localhost:8080/healthz': runs(
      'business',
      /"status":"healthy",.*"uptime":"[^"]+","processed_configs":\d+,"active_jobs":\d+,"crd_watcher_status":"(running|stopped)","last_crd_processed":"/,
      {
        beside:
          'kubectl port-forward -n multinic-system deployment/multinic-agent-controller 8080:8080',
      },
    ),
    'kubectl logs -n multinic-system -l app.kubernetes.io/name=multinic-agent,job-name=multinic-agent-<node-id>-<timestamp>':
      differs(
        inJobsNamespace,
        `kubectl logs -n multinic-agents -l app.kubernetes.io/name=multinic-agent,job-name="$(${newestJob} | cut -d/ -f2)"`,
        /"outcome"/,
      ),
    'kubectl logs -n multinic-system $(kubectl get jobs -n multinic-system -l instance=<node-id> --sort-by=.metadata.creationTimestamp -o name | tail -1) -f':
      differs(
        inJobsNamespace,
        `kubectl logs -n multinic-agents $(${jobs} -l instance=${nodeId} --sort-by=.metadata.creationTimestamp -o name | tail -1) -f`,
        /"outcome"/,
      ),
    'kubectl get multinicclusterconfigs -A -o wide': runs(
      'business',
      /^multinic-system +production-cluster-network +0c497169-a104-4448-afde-f27b79fca904 /m,
    ),
    'kubectl describe multinicclusterconfig -n multinic-system <config-name>': runsWith(
      { '<config-name>': 'production-cluster-network' },
      { on: 'business', prints: /Attached Node Name: +k8s-worker-03$/m },
    ),
    "kubectl get multinicclusterconfigs -A -o custom-columns=NAME:.metadata.name,NAMESPACE:.metadata.namespace,APPLIED:.status.conditions[?(@.type=='Applied')].status":
      differs(
        quotes,
        `kubectl get multinicclusterconfigs -A -o "custom-columns=NAME:.metadata.name,NAMESPACE:.metadata.namespace,APPLIED:.status.conditions[?(@.type=='Applied')].status"`,
        /^production-cluster-network +multinic-system +(True|False|Unknown|<none>)$/m,
      ),
    'kubectl describe pod -n multinic-system -l app.kubernetes.io/component=controller': runs(
      'business',
      /Service Account: +multinic-agent$/m,
    ),
    'kubectl auth can-i get nodes --as=system:serviceaccount:multinic-system:multinic-agent': runs(
      'business',
      /^yes$/m,
    ),
    'kubectl auth can-i create jobs --as=system:serviceaccount:multinic-system:multinic-agent':
      differs(
        inJobsNamespace,
        'kubectl auth can-i create jobs -n multinic-agents --as=system:serviceaccount:multinic-system:multinic-agent',
        /^yes$/m,
      ),
    'kubectl auth can-i watch multinicclusterconfigs --as=system:serviceaccount:multinic-system:multinic-agent':
      differs(
        '`kubectl auth can-i watch multinicclusterconfigs',
        'kubectl auth can-i watch multinicclusterconfigs -n multinic-system --as=system:serviceaccount:multinic-system:multinic-agent',
        /^yes$/m,
      ),
    "kubectl get multinicclusterconfigs -A -o custom-columns=NAME:.metadata.name,STATUS:.status.conditions[?(@.type=='Applied')].status":
      differs(
        quotes,
        `kubectl get multinicclusterconfigs -A -o "custom-columns=NAME:.metadata.name,STATUS:.status.conditions[?(@.type=='Applied')].status"`,
        /^production-cluster-network +(True|False|Unknown|<none>)$/m,
      ),
    'kubectl describe job -n multinic-system <job-name>': differs(
      inJobsNamespace,
      `kubectl describe -n multinic-agents "$(${newestJob})"`,
      /Pods Statuses: +0 Active \(0 Ready\) \/ 1 Succeeded/,
    ),
    'kubectl get nodes -o custom-columns=NAME:.metadata.name,SYSTEM_UUID:.status.nodeInfo.systemUUID':
      runs('business', /^worker-1 +[0-9a-f-]{36}$/m),
    'kubectl logs -n multinic-system $(kubectl get jobs -n multinic-system -l app.kubernetes.io/name=multinic-agent --sort-by=.metadata.creationTimestamp -o name | tail -1)':
      differs(inJobsNamespace, `kubectl logs -n multinic-agents "$(${newestJob})"`, /"outcome"/),
    'kubectl logs -n multinic-system <job-name> | grep -E "(DetectActiveInterfaces|CleanupOrphanedConfigs|orphaned)"':
      differs(
        otherWords,
        `kubectl logs -n multinic-agents "$(${newestJob})" | grep -E "(DetectActiveInterfaces|CleanupOrphanedConfigs|orphaned)"`,
        /DetectActiveInterfaces/,
      ),
    "kubectl get nodes <node-name> -o jsonpath='{.status.nodeInfo.systemUUID}'": runsWith(
      { '<node-name>': 'worker-1' },
      { on: 'business', prints: /^[0-9a-f-]{36}$/ },
    ),
    'kubectl logs <agent-job> | grep "DetectActiveInterfaces"': differs(
      otherWords,
      `kubectl logs -n multinic-agents "$(${newestJob})" | grep "DetectActiveInterfaces"`,
      /DetectActiveInterfaces/,
    ),
    'kubectl exec <agent-pod> -- ls -la /etc/netplan/backup/': differs(agentEnds),
    'kubectl exec <agent-pod> -- ls -la /etc/sysconfig/network-scripts/backup/': differs(agentEnds),
    'kubectl exec <agent-pod> -- ip link show | grep multinic': differs(agentEnds),
  },
};
