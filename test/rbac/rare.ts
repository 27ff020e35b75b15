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
    right: 'patch secrets',
    file: 'test/fixtures/crash/old-token.ts',
    test: 'Viola renews it when it starts',
  },
  {
    right: 'create serviceaccounts/token of viola',
    file: 'test/fixtures/crash/old-token.ts',
    test: 'Viola renews it when it starts',
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
    test: 'leaves the node that an object meant before, then serves the one that it means now',
  },
  {
    right: 'get namespaces of multinic-system',
    file: 'src/controller/deletion/finalizer.test.ts',
    test: 'goes after its node was cleaned, and its Jobs and ConfigMaps with it',
  },
  {
    right: 'get namespaces',
    file: 'src/operator/start.test.ts',
    test: 'keeps the NICs of a namespace that is being deleted until somebody agrees',
  },
  {
    right: 'get multinicnodeconfigs.multinic.io',
    file: 'src/controller/jobs/protocol.test.ts',
    test: 'supersedes exactly what the host has seen, once, when etcd was restored',
  },
  {
    right: 'get jobs.batch',
    file: 'src/controller/restart.test.ts',
    test: 'takes the Job that it created unheard for its own while no watch has told of it',
  },
  {
    right: 'get configmaps',
    file: 'src/controller/restart.test.ts',
    test: 'creates nothing twice when a write to %s took effect unheard',
  },
  {
    right: 'create multinicnodeconfigs.multinic.io',
    file: 'src/controller/biz-config/rights.test.ts',
    test: 'uses all its rights for MultiNicBizConfigs, and asks for nothing else',
  },
  {
    right: 'delete multinicnodeconfigs.multinic.io',
    file: 'src/controller/biz-config/rights.test.ts',
    test: 'uses all its rights for MultiNicBizConfigs, and asks for nothing else',
  },
  {
    right: 'get customresourcedefinitions.apiextensions.k8s.io of multinicbizconfigs.multinic.io',
    file: 'src/controller/biz-config/rights.test.ts',
    test: 'uses all its rights for MultiNicBizConfigs, and asks for nothing else',
  },
  {
    right:
      'get customresourcedefinitions.apiextensions.k8s.io of multinicbizconfigs.multinic.okestro.io',
    file: 'src/controller/biz-config/rights.test.ts',
    test: 'uses all its rights for MultiNicBizConfigs, and asks for nothing else',
  },
  {
    right: 'patch multinicbizconfigs.multinic.io/status',
    file: 'src/controller/biz-config/rights.test.ts',
    test: 'uses all its rights for MultiNicBizConfigs, and asks for nothing else',
  },
  {
    right: 'patch multinicbizconfigs.multinic.okestro.io/status',
    file: 'src/controller/biz-config/rights.test.ts',
    test: 'uses all its rights for MultiNicBizConfigs, and asks for nothing else',
  },
];
