import type { DefinitionName } from '../api/crd/schema-numbers.ts';
import { type BizConfigGroup, bizConfigGroups, businessGroup } from '../api/names.ts';
import type { Places, Right, RightsTable } from '../kube/rights.ts';
import type { Values } from '../process/settings.ts';
import { type NetworkPlace, networkPlaces, networkRights } from './networks/rights.ts';
import { nodeConfigs } from './objects/stores.ts';
import { ledgerName } from './removals/ledger.ts';
import type { controllerSettings } from './settings.ts';

export const leaseName = 'multinic-agent-controller';

export const definition: DefinitionName = 'multinicnodeconfigs.multinic.io';

/**
 * `own`: namespace with the MultiNicNodeConfigs; `agents`: namespace with the Jobs. A MultiNicBizConfig group and
 * `expansion` are in `own` too, but have separate Roles. `kubeSystem` and `apiServer`: namespaces of the cluster.
 */
type ControllerPlace = NetworkPlace | 'agents' | BizConfigGroup | 'expansion';
type ControllerRight = Right<ControllerPlace, never>;

const jobs = { group: 'batch', resource: 'jobs' } as const;
const pods = { group: '', resource: 'pods' } as const;
const nodes = { group: '', resource: 'nodes', where: 'cluster' } as const;
const configMaps = { group: '', resource: 'configmaps', where: 'agents' } as const;
const removals = { group: '', resource: 'configmaps', where: 'own' } as const;
const leases = { group: 'coordination.k8s.io', resource: 'leases', where: 'own' } as const;
const configs = { group: businessGroup, resource: nodeConfigs.plural, where: 'own' } as const;

/** Rights for one MultiNicBizConfig group; needed unless the mode is `off`. */
function bizConfigRights(group: BizConfigGroup): readonly ControllerRight[] {
  return [
    {
      group,
      resource: 'multinicbizconfigs',
      verbs: ['list', 'watch'],
      where: group,
      why: {
        en: 'Reads MultiNicBizConfigs: each entry of nodeConfigs becomes a MultiNicNodeConfig.',
        ko: 'MultiNicBizConfig를 읽어 nodeConfigs의 항목마다 MultiNicNodeConfig를 만듭니다.',
      },
    },
    {
      group,
      resource: 'multinicbizconfigs/status',
      verbs: ['patch'],
      where: group,
      why: {
        en: 'Writes the state of the nodes to status.',
        ko: '노드의 상태를 status에 기록합니다.',
      },
      rare: true,
    },
  ];
}

/** Rights needed in mode `active` only. */
const expansionRights: readonly ControllerRight[] = [
  {
    group: businessGroup,
    resource: nodeConfigs.plural,
    verbs: ['create', 'delete'],
    where: 'expansion',
    why: {
      en: 'Creates one MultiNicNodeConfig per entry of a MultiNicBizConfig, and deletes it when the entry is removed.',
      ko: 'MultiNicBizConfig의 항목마다 MultiNicNodeConfig를 만들고, 항목이 제거되면 삭제합니다.',
    },
    rare: true,
  },
];

/** Rights to find the Node of an object. */
const nodeRights: readonly ControllerRight[] = [
  {
    ...nodes,
    verbs: ['list', 'watch'],
    why: {
      en: 'Finds the Kubernetes node of a MultiNicNodeConfig. Nodes are cluster-scoped.',
      ko: 'MultiNicNodeConfig에 해당하는 Kubernetes 노드를 찾습니다. Node는 클러스터 범위 리소스입니다.',
    },
  },
  {
    ...nodes,
    verbs: ['get'],
    why: {
      en: 'Checks whether the former node of an object is still the same machine.',
      ko: '객체가 이전에 가리킨 노드가 아직 같은 머신인지 확인합니다.',
    },
    rare: true,
  },
];

/** Rights to check whether all objects are being deleted, and which fields the CRDs have. */
function definitionRights(namespace: string): readonly ControllerRight[] {
  return [
    {
      group: '',
      resource: 'namespaces',
      names: [namespace],
      verbs: ['get'],
      where: 'cluster',
      why: {
        en: 'Checks whether the namespace is being deleted: if so, nodes are not cleaned without consent.',
        ko: '네임스페이스가 삭제되는 중인지 확인합니다. 삭제 중이면 동의 없이 노드를 정리하지 않습니다.',
      },
      rare: true,
    },
    {
      group: 'apiextensions.k8s.io',
      resource: 'customresourcedefinitions',
      names: [definition],
      verbs: ['get'],
      where: 'cluster',
      why: {
        en: 'Checks whether the CRD is being deleted, and whether it has all fields of this build: the API server silently drops fields that the CRD lacks.',
        ko: 'CRD가 삭제되는 중인지, 이 빌드의 모든 필드가 있는지 확인합니다. CRD에 없는 필드는 API 서버가 경고 없이 버립니다.',
      },
    },
    {
      group: 'apiextensions.k8s.io',
      resource: 'customresourcedefinitions',
      names: bizConfigGroups.map((group) => `multinicbizconfigs.${group}`),
      verbs: ['get'],
      where: 'cluster',
      why: {
        en: 'Checks every minute whether the CRD of a MultiNicBizConfig group is installed: it may be installed or removed at any time.',
        ko: 'MultiNicBizConfig 그룹의 CRD가 설치되어 있는지 1분마다 확인합니다. CRD는 언제든 설치되거나 제거될 수 있습니다.',
      },
      rare: true,
    },
  ];
}

/** Rights to read objects, and to write finalizer, spec and status. */
const nodeConfigRights: readonly ControllerRight[] = [
  {
    ...configs,
    verbs: ['list', 'watch', 'patch'],
    why: {
      en: 'Reads the desired NICs. patch: sets the finalizer, and updates objects that come from a MultiNicBizConfig.',
      ko: '원하는 NIC 구성을 읽습니다. patch는 finalizer를 설정하고 MultiNicBizConfig에서 만든 객체를 갱신할 때만 사용합니다.',
    },
  },
  {
    ...configs,
    verbs: ['get'],
    why: {
      en: 'Reads the owner of the object before a request supersedes a newer fence of a host, and before NICs of a MultiNicBizConfig are removed.',
      ko: '호스트에 남은 더 새로운 fence를 대체하기 전과 MultiNicBizConfig의 NIC를 제거하기 전에 객체의 소유자를 확인합니다.',
    },
    rare: true,
  },
  {
    ...configs,
    resource: `${nodeConfigs.plural}/status`,
    verbs: ['patch'],
    why: { en: 'Writes the outcome to status.', ko: '결과를 status에 기록합니다.' },
  },
];

/** Rights to detect the legacy controller. */
const legacyRights: readonly ControllerRight[] = [
  {
    ...jobs,
    verbs: ['list', 'watch'],
    where: 'own',
    why: {
      en: 'Detects Jobs of the legacy controller, to yield to it.',
      ko: '기존 컨트롤러의 Job을 감지하면 노드를 변경하지 않고 양보합니다.',
    },
  },
  {
    ...pods,
    verbs: ['list', 'watch'],
    where: 'own',
    why: {
      en: 'Detects Pods of the legacy controller, to yield to it.',
      ko: '기존 컨트롤러의 Pod를 감지하면 노드를 변경하지 않고 양보합니다.',
    },
  },
];

/** Rights for leader election. */
const leaseRights: readonly ControllerRight[] = [
  {
    ...leases,
    names: [leaseName],
    verbs: ['get', 'patch'],
    why: {
      en: 'Leader election: one of several replicas is active.',
      ko: '리더 선출에 사용합니다. 여러 복제본 중 하나만 동작합니다.',
    },
  },
  {
    ...leases,
    verbs: ['create'],
    why: {
      en: 'Creates the Lease at the first start. RBAC cannot restrict create to a name.',
      ko: '처음 시작할 때 Lease를 만듭니다. RBAC의 create 권한은 이름으로 제한할 수 없습니다.',
    },
  },
];

/** Rights for Events. */
const eventRights: readonly ControllerRight[] = [
  {
    group: '',
    resource: 'events',
    verbs: ['create'],
    where: 'own',
    why: {
      en: 'Reports changes as Events on the object, and rights or fields missing at the start as Events on the Pod.',
      ko: '변화를 객체의 Event로 알리고, 시작할 때 부족한 권한이나 필드를 Pod의 Event로 알립니다.',
    },
  },
  {
    group: '',
    resource: 'events',
    verbs: ['patch'],
    where: 'own',
    why: {
      en: 'Increments the count of an existing Event when it recurs.',
      ko: '같은 Event가 다시 발생하면 기존 Event의 횟수를 늘립니다.',
    },
    rare: true,
  },
];

/** Rights to run agents. */
const agentRights: readonly ControllerRight[] = [
  {
    ...jobs,
    verbs: ['list', 'watch', 'create', 'patch', 'delete'],
    where: 'agents',
    why: { en: 'Runs agents as Jobs.', ko: '에이전트를 Job으로 실행합니다.' },
  },
  {
    ...jobs,
    verbs: ['get'],
    where: 'agents',
    why: {
      en: 'Finds a Job that the controller created before a restart and that the watch has not delivered yet.',
      ko: '컨트롤러가 재시작하기 전에 만들었으나 watch로 아직 받지 못한 Job을 확인합니다.',
    },
    rare: true,
  },
  {
    ...pods,
    verbs: ['list', 'watch'],
    where: 'agents',
    why: { en: 'Reads how an agent ended.', ko: '에이전트가 어떻게 종료되었는지 확인합니다.' },
  },
  {
    ...configMaps,
    verbs: ['create'],
    why: {
      en: 'Stores the request to an agent. The ConfigMap is deleted together with its Job.',
      ko: '에이전트에 보내는 요청을 저장합니다. ConfigMap은 소유한 Job과 함께 삭제됩니다.',
    },
  },
  {
    ...configMaps,
    verbs: ['get'],
    why: {
      en: 'Checks which Job owns an existing ConfigMap.',
      ko: '이미 있는 ConfigMap을 어느 Job이 소유하는지 확인합니다.',
    },
    rare: true,
  },
];

/** Rights for the ledger of removals. */
const ledgerRights: readonly ControllerRight[] = [
  {
    ...removals,
    verbs: ['create'],
    why: {
      en: 'Stores which NICs left with deleted objects within the last hour, for the budget of removals, and the networks of the cluster.',
      ko: '제거 예산을 계산하기 위해 최근 한 시간 동안 삭제된 객체와 함께 제거된 NIC를 기록하고, 클러스터의 네트워크를 기록합니다.',
    },
    rare: true,
  },
  {
    ...removals,
    names: [ledgerName],
    verbs: ['get', 'patch'],
    why: {
      en: 'Reads and updates this list; while it cannot be read, removals wait for consent.',
      ko: '이 목록을 읽고 갱신합니다. 읽을 수 없는 동안에는 동의할 때까지 NIC를 제거하지 않습니다.',
    },
    rare: true,
  },
];

/** Returns all rights the controller needs in a business cluster. */
export function controllerRights(namespace: string): RightsTable<ControllerPlace, never> {
  return {
    clusterRole: 'multinic-controller',
    roles: {
      own: 'multinic-controller',
      agents: 'multinic-controller',
      'multinic.io': 'multinic-controller-biz-config',
      'multinic.okestro.io': 'multinic-controller-biz-config-okestro',
      expansion: 'multinic-controller-expansion',
      kubeSystem: 'multinic-controller-networks',
      apiServer: 'multinic-controller-api-server',
    },
    rights: [
      ...nodeRights,
      ...definitionRights(namespace),
      ...bizConfigGroups.flatMap(bizConfigRights),
      ...expansionRights,
      ...nodeConfigRights,
      ...legacyRights,
      ...leaseRights,
      ...eventRights,
      ...agentRights,
      ...ledgerRights,
      ...networkRights,
    ],
  };
}

type PlaceSettings = Pick<
  Values<typeof controllerSettings>,
  'namespace' | 'agentNamespace' | 'bizConfig'
> & { readonly bizConfigGroups: readonly BizConfigGroup[] };

export function placesOf({
  namespace,
  agentNamespace,
  bizConfig,
  bizConfigGroups: groups,
}: PlaceSettings): Places<ControllerPlace> {
  const read = (group: BizConfigGroup) =>
    bizConfig !== 'off' && groups.includes(group) ? [namespace] : [];
  return {
    cluster: 'cluster',
    ...networkPlaces,
    own: [namespace],
    agents: [agentNamespace],
    'multinic.io': read('multinic.io'),
    'multinic.okestro.io': read('multinic.okestro.io'),
    expansion: bizConfig === 'active' ? [namespace] : [],
  };
}
