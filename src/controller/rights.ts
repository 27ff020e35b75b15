import type { DefinitionName } from '../api/crd/schema-numbers.ts';
import { type BizConfigGroup, bizConfigGroups, businessGroup } from '../api/names.ts';
import type { Places, Right, RightsTable } from '../kube/rights.ts';
import type { Values } from '../process/settings.ts';
import { nodeConfigs } from './objects/stores.ts';
import type { controllerSettings } from './settings.ts';

export const leaseName = 'multinic-agent-controller';

export const definition: DefinitionName = 'multinicnodeconfigs.multinic.io';

/**
 * `own`: namespace with the MultiNicNodeConfigs; `agents`: namespace with the Jobs. A MultiNicBizConfig group and
 * `expansion` are in `own` too, but have separate Roles.
 */
export type ControllerPlace = 'cluster' | 'own' | 'agents' | BizConfigGroup | 'expansion';

const jobs = { group: 'batch', resource: 'jobs' } as const;
const pods = { group: '', resource: 'pods' } as const;
const nodes = { group: '', resource: 'nodes', where: 'cluster' } as const;
const configMaps = { group: '', resource: 'configmaps', where: 'agents' } as const;
const leases = { group: 'coordination.k8s.io', resource: 'leases', where: 'own' } as const;
const configs = { group: businessGroup, resource: nodeConfigs.plural, where: 'own' } as const;

/** Rights for one MultiNicBizConfig group; needed unless the mode is `off`. */
function bizConfigRights(group: BizConfigGroup): readonly Right<ControllerPlace, never>[] {
  return [
    {
      group,
      resource: 'multinicbizconfigs',
      verbs: ['list', 'watch'],
      where: group,
      why: {
        en: 'Objects of a whole cluster, each entry of which becomes a MultiNicNodeConfig.',
        ko: '클러스터 전체 객체를 읽어 항목마다 MultiNicNodeConfig를 만듭니다.',
      },
    },
    {
      group,
      resource: 'multinicbizconfigs/status',
      verbs: ['patch'],
      where: group,
      why: { en: 'The state of their nodes.', ko: '노드의 상태를 기록합니다.' },
      rare: true,
    },
  ];
}

/** Rights needed in mode `active` only. */
const expansionRights: readonly Right<ControllerPlace, never>[] = [
  {
    group: businessGroup,
    resource: nodeConfigs.plural,
    verbs: ['create', 'delete'],
    where: 'expansion',
    why: {
      en: 'One object per entry of a MultiNicBizConfig; it is deleted when the entry leaves.',
      ko: 'MultiNicBizConfig의 항목마다 객체를 만들고, 항목이 없어지면 삭제합니다.',
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
    },
    rights: [
      {
        ...nodes,
        verbs: ['list', 'watch'],
        why: {
          en: 'Which Kubernetes node a config is for. Nodes belong to no namespace.',
          ko: '설정이 어느 Kubernetes 노드의 것인지 찾습니다. Node는 네임스페이스에 속하지 않습니다.',
        },
      },
      {
        ...nodes,
        verbs: ['get'],
        why: {
          en: 'Whether a node that an object meant before is still the same machine.',
          ko: '객체가 이전에 가리킨 노드가 아직 같은 머신인지 확인합니다.',
        },
        rare: true,
      },
      {
        group: '',
        resource: 'namespaces',
        names: [namespace],
        verbs: ['get'],
        where: 'cluster',
        why: {
          en: 'Whether all objects are being deleted because their namespace is: nodes are not cleaned then without consent.',
          ko: '네임스페이스 삭제로 모든 객체가 지워지는 중인지 확인합니다. 그때는 동의 없이 노드를 정리하지 않습니다.',
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
          en: 'The same of their kind, and whether it has all fields of this build: others would be dropped in silence.',
          ko: 'CRD가 삭제되는 중인지, 이 빌드의 모든 필드가 있는지 확인합니다. 없는 필드는 조용히 사라집니다.',
        },
      },
      {
        group: 'apiextensions.k8s.io',
        resource: 'customresourcedefinitions',
        names: bizConfigGroups.map((group) => `multinicbizconfigs.${group}`),
        verbs: ['get'],
        where: 'cluster',
        why: {
          en: 'Whether a group of MultiNicBizConfigs exists, each minute: it may be added and removed at any time.',
          ko: 'MultiNicBizConfig 그룹의 존재 여부를 매분 확인합니다. 언제든 추가되거나 제거될 수 있습니다.',
        },
        rare: true,
      },
      ...bizConfigGroups.flatMap(bizConfigRights),
      ...expansionRights,
      {
        ...configs,
        verbs: ['list', 'watch', 'patch'],
        why: {
          en: 'What is wanted. patch: the finalizer, and objects that are made from a MultiNicBizConfig.',
          ko: '원하는 상태를 읽습니다. patch는 finalizer와 MultiNicBizConfig로 만든 객체에만 씁니다.',
        },
      },
      {
        ...configs,
        verbs: ['get'],
        why: {
          en: "Before a host's newer fence is superseded, and before NICs of a MultiNicBizConfig are removed: who owns the object.",
          ko: '호스트에 남은 더 새로운 fence를 대체하기 전과, MultiNicBizConfig의 NIC를 제거하기 전에 객체의 소유자를 확인합니다.',
        },
        rare: true,
      },
      {
        ...configs,
        resource: `${nodeConfigs.plural}/status`,
        verbs: ['patch'],
        why: { en: 'What came of it.', ko: '결과를 status에 기록합니다.' },
      },
      {
        ...jobs,
        verbs: ['list', 'watch'],
        where: 'own',
        why: {
          en: 'Jobs of the deployed controller: to stand back from it.',
          ko: '기존 컨트롤러의 Job을 보고 물러섭니다.',
        },
      },
      {
        ...pods,
        verbs: ['list', 'watch'],
        where: 'own',
        why: {
          en: 'Pods of the deployed controller: to stand back from it.',
          ko: '기존 컨트롤러의 Pod를 보고 물러섭니다.',
        },
      },
      {
        ...leases,
        names: [leaseName],
        verbs: ['get', 'patch'],
        why: { en: 'One of several replicas works.', ko: '여러 복제본 중 하나만 일합니다.' },
      },
      {
        ...leases,
        verbs: ['create'],
        why: {
          en: 'The lease, at the first start. A create cannot be held to a name.',
          ko: '처음 시작할 때 lease를 만듭니다. create 권한은 이름으로 제한할 수 없습니다.',
        },
      },
      {
        group: '',
        resource: 'events',
        verbs: ['create'],
        where: 'own',
        why: {
          en: 'What happens is told on the object, and what is missing at the start on the Pod.',
          ko: '객체에 Event로 알리고, 시작할 때 부족한 것은 Pod에 알립니다.',
        },
      },
      {
        group: '',
        resource: 'events',
        verbs: ['patch'],
        where: 'own',
        why: {
          en: 'The same again is counted in the Event that is there.',
          ko: '같은 일이 다시 생기면 이미 있는 Event에 횟수만 더합니다.',
        },
        rare: true,
      },
      {
        ...jobs,
        verbs: ['list', 'watch', 'create', 'patch', 'delete'],
        where: 'agents',
        why: { en: 'Agents run as Jobs.', ko: '에이전트는 Job으로 실행됩니다.' },
      },
      {
        ...jobs,
        verbs: ['get'],
        where: 'agents',
        why: {
          en: 'A Job that an earlier life of the controller made, before the watch has told of it.',
          ko: '컨트롤러가 재시작 전에 만든 Job을 watch보다 먼저 확인합니다.',
        },
        rare: true,
      },
      {
        ...pods,
        verbs: ['list', 'watch'],
        where: 'agents',
        why: { en: 'How an agent ended.', ko: '에이전트가 어떻게 끝났는지 봅니다.' },
      },
      {
        ...configMaps,
        verbs: ['create'],
        why: {
          en: 'What an agent is asked for. They go with the Job that owns them.',
          ko: '에이전트에게 요청할 내용입니다. 소유한 Job과 함께 삭제됩니다.',
        },
      },
      {
        ...configMaps,
        verbs: ['get'],
        why: {
          en: 'Whose a ConfigMap is that is there already.',
          ko: '이미 있는 ConfigMap이 누구의 것인지 확인합니다.',
        },
        rare: true,
      },
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
    own: [namespace],
    agents: [agentNamespace],
    'multinic.io': read('multinic.io'),
    'multinic.okestro.io': read('multinic.okestro.io'),
    expansion: bizConfig === 'active' ? [namespace] : [],
  };
}
