/** A right that not every installation comes to use, and a test that fails without it. */
export interface RareUse {
  /** As `useOf` names it, without the namespace. */
  readonly right: string;
  readonly file: string;
  readonly test: string;
}

/** Every right that is `rare` in a table; what is unused in the log of an installation and not here is too much. */
export const rareUses: readonly RareUse[] = [
  {
    right: 'list servicecidrs.networking.k8s.io',
    file: 'src/controller/networks/published.test.ts',
    test: 'the controller uses each optional right and requests nothing beyond',
  },
  {
    right: 'list services',
    file: 'src/controller/networks/published.test.ts',
    test: 'the controller uses each optional right and requests nothing beyond',
  },
  {
    right: 'get configmaps of kubeadm-config',
    file: 'src/controller/networks/published.test.ts',
    test: 'the controller uses each optional right and requests nothing beyond',
  },
  {
    right: 'get services of kubernetes',
    file: 'src/controller/networks/published.test.ts',
    test: 'the controller uses each optional right and requests nothing beyond',
  },
  {
    right: 'get endpointslices.discovery.k8s.io of kubernetes',
    file: 'src/controller/networks/published.test.ts',
    test: 'the controller uses each optional right and requests nothing beyond',
  },
  {
    right: 'get endpoints of kubernetes',
    file: 'src/controller/networks/published.test.ts',
    test: 'the controller uses each optional right and requests nothing beyond',
  },
  {
    right: 'get configmaps of multinic-cluster-networks',
    file: 'src/controller/networks/published.test.ts',
    test: 'the controller uses each optional right and requests nothing beyond',
  },
  {
    right: 'patch configmaps of multinic-cluster-networks',
    file: 'src/controller/networks/published.test.ts',
    test: 'the controller uses each optional right and requests nothing beyond',
  },
  {
    right: 'create configmaps',
    file: 'src/controller/removals/deletions.test.ts',
    test: 'deleted objects count after they are gone, and across a restart',
  },
  {
    right: 'get configmaps of multinic-removals',
    file: 'src/controller/removals/deletions.test.ts',
    test: 'deleted objects count after they are gone, and across a restart',
  },
  {
    right: 'patch configmaps of multinic-removals',
    file: 'src/controller/removals/deletions.test.ts',
    test: 'deleted objects count after they are gone, and across a restart',
  },
  {
    right: 'patch secrets',
    file: 'test/fixtures/crash/old-token.ts',
    test: 'Viola renews it at start',
  },
  {
    right: 'create serviceaccounts/token of viola',
    file: 'test/fixtures/crash/old-token.ts',
    test: 'Viola renews it at start',
  },
  {
    right: 'create events',
    file: 'test/rbac/pod-events.test.ts',
    test: 'is told on its Pod, once and again',
  },
  {
    right: 'patch events',
    file: 'test/rbac/pod-events.test.ts',
    test: 'is told on its Pod, once and again',
  },
  {
    right: 'get nodes',
    file: 'src/controller/deletion/former-node-cleanup.test.ts',
    test: 'a moved object is cleaned on its former node, then applied on the new node',
  },
  {
    right: 'get namespaces of multinic-system',
    file: 'src/controller/deletion/finalizer.test.ts',
    test: 'a deleted object is released after its node was cleaned, together with Jobs and ConfigMaps',
  },
  {
    right: 'get namespaces',
    file: 'src/operator/start.test.ts',
    test: 'a deleted namespace keeps its NICs until allow-removals has a new value',
  },
  {
    right: 'get namespaces of kube-system',
    file: 'src/viola/clusters/uid.test.ts',
    test: 'the cluster list has the uid of kube-system',
  },
  {
    right: 'get multinicnodeconfigs.multinic.io',
    file: 'src/controller/jobs/protocol.test.ts',
    test: "after an etcd restore, the next request supersedes exactly the host's fence, with one read",
  },
  {
    right: 'get jobs.batch',
    file: 'src/controller/restart.test.ts',
    test: 'a Job created with a lost response is recognised before the watch event arrives',
  },
  {
    right: 'get configmaps',
    file: 'src/controller/restart.test.ts',
    test: 'a lost response to a write on %s causes no duplicate object',
  },
  {
    right: 'create multinicnodeconfigs.multinic.io',
    file: 'src/controller/biz-config/rights.test.ts',
    test: 'uses all its MultiNicBizConfig rights and requests nothing beyond',
  },
  {
    right: 'delete multinicnodeconfigs.multinic.io',
    file: 'src/controller/biz-config/rights.test.ts',
    test: 'uses all its MultiNicBizConfig rights and requests nothing beyond',
  },
  {
    right: 'get customresourcedefinitions.apiextensions.k8s.io of multinicbizconfigs.multinic.io',
    file: 'src/controller/biz-config/rights.test.ts',
    test: 'uses all its MultiNicBizConfig rights and requests nothing beyond',
  },
  {
    right:
      'get customresourcedefinitions.apiextensions.k8s.io of multinicbizconfigs.multinic.okestro.io',
    file: 'src/controller/biz-config/rights.test.ts',
    test: 'uses all its MultiNicBizConfig rights and requests nothing beyond',
  },
  {
    right: 'patch multinicbizconfigs.multinic.io/status',
    file: 'src/controller/biz-config/rights.test.ts',
    test: 'uses all its MultiNicBizConfig rights and requests nothing beyond',
  },
  {
    right: 'patch multinicbizconfigs.multinic.okestro.io/status',
    file: 'src/controller/biz-config/rights.test.ts',
    test: 'uses all its MultiNicBizConfig rights and requests nothing beyond',
  },
];
