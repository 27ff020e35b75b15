import type { DefinitionName } from '../api/crd/schema-numbers.ts';
import { managedObjects, managementGroup } from '../api/names.ts';
import { triggerConfigMap } from '../api/trigger-config.ts';
import type { Places, Right, RightsTable, Verb } from '../kube/rights.ts';
import { multiNicOperators } from './model/multinicoperator.ts';
import type { LifecycleSettings } from './settings.ts';
import { operatorServices } from './stages/managed-controller/base.ts';

export const leaseName = 'multinic-lifecycle';

export const definition: DefinitionName = 'multinicoperators.multinic.example.com';

/** `own`: namespace of lifecycle and everything it installs. */
export type LifecyclePlace = 'cluster' | 'own';
type LifecycleRight = Right<LifecyclePlace, never>;

const admission = 'admissionregistration.k8s.io';
const follow = ['list', 'watch'] as const;
/** An apply that creates an object needs the right to create this name. */
const keep = ['get', 'create', 'patch'] as const;
const keepAndDelete = [...keep, 'delete'] as const;

/** Kinds watched by label; a label selector cannot be restricted to names. */
const watched = [
  ['apps', 'deployments'],
  ['apps', 'statefulsets'],
  ['', 'services'],
  ['', 'persistentvolumeclaims'],
  ['', 'configmaps'],
  ['batch', 'cronjobs'],
  ['policy', 'poddisruptionbudgets'],
] as const;

function own(
  group: string,
  resource: string,
  names: readonly string[],
  verbs: readonly Verb[],
  why: LifecycleRight['why'],
): LifecycleRight {
  return { group, resource, names, verbs, where: 'own', why };
}

function clusterWide(namespace: string): readonly LifecycleRight[] {
  const operators = { group: managementGroup, where: 'cluster' } as const;
  return [
    {
      ...operators,
      resource: multiNicOperators.plural,
      verbs: ['get', 'list', 'watch', 'patch'],
      why: {
        en: 'Reads the desired installation. get: counters that all replicas update; patch: only the finalizer. A MultiNicOperator in another namespace is refused.',
        ko: '원하는 설치 상태를 읽습니다. get은 모든 복제본이 갱신하는 카운터를 읽을 때, patch는 finalizer에만 사용합니다. 다른 네임스페이스의 MultiNicOperator는 거부합니다.',
      },
    },
    {
      ...operators,
      resource: `${multiNicOperators.plural}/status`,
      verbs: ['patch'],
      why: {
        en: 'Writes phase, conditions and counters.',
        ko: '단계, 조건, 카운터를 status에 기록합니다.',
      },
    },
    {
      group: 'apiextensions.k8s.io',
      resource: 'customresourcedefinitions',
      names: [definition],
      verbs: ['get'],
      where: 'cluster',
      why: {
        en: 'Checks that the installed CRD has all fields of this build: the API server silently drops unknown fields.',
        ko: '설치된 CRD에 이 빌드의 모든 필드가 있는지 확인합니다. API 서버는 CRD에 없는 필드를 알리지 않고 버립니다.',
      },
    },
    {
      group: '',
      resource: 'namespaces',
      names: [namespace],
      verbs: ['get', ...follow],
      where: 'cluster',
      why: {
        en: 'Checks whether its own namespace is being deleted: lifecycle then removes finalizer and webhook at once.',
        ko: '자신의 네임스페이스가 삭제되는지 확인합니다. 삭제 중이면 finalizer와 웹훅을 바로 제거합니다.',
      },
    },
    {
      group: admission,
      resource: 'validatingwebhookconfigurations',
      names: [managedObjects.protection],
      verbs: ['get', 'list', 'watch', 'create', 'patch', 'delete'],
      where: 'cluster',
      why: {
        en: 'Creates its webhook configuration, again after a deletion. This right decides which requests the webhook receives: protect the token of lifecycle.',
        ko: '자신의 웹훅 설정을 만들고 삭제되면 다시 만듭니다. 이 권한으로 웹훅이 받는 요청을 정할 수 있으므로 lifecycle의 토큰을 보호하십시오.',
      },
    },
  ];
}

function following(): readonly LifecycleRight[] {
  const objects = watched.map(
    ([group, resource]): LifecycleRight => ({
      group,
      resource,
      verbs: follow,
      where: 'own',
      why: {
        en: 'Watches managed objects by label, to restore them after a change or deletion.',
        ko: '레이블로 관리 객체를 감시하여 변경되거나 삭제되면 복구합니다.',
      },
    }),
  );
  return [
    ...objects,
    {
      group: '',
      resource: 'pods',
      verbs: follow,
      where: 'own',
      why: {
        en: 'Finds out why a Pod of the operator, of MariaDB or of a backup does not run.',
        ko: '오퍼레이터, MariaDB, 백업의 Pod가 실행되지 않는 이유를 확인합니다.',
      },
    },
    {
      group: 'batch',
      resource: 'jobs',
      verbs: [...follow, 'create', 'patch', 'delete'],
      where: 'own',
      why: {
        en: 'Runs backups before upgrades, and restores. Job names contain the request, so this rule cannot name them.',
        ko: '업그레이드 전 백업과 복원 Job을 실행합니다. Job 이름에 요청이 들어가므로 규칙을 이름으로 제한할 수 없습니다.',
      },
    },
  ];
}

const keeping: readonly LifecycleRight[] = [
  own('apps', 'deployments', [managedObjects.controller], keepAndDelete, {
    en: 'Deployment of the operator.',
    ko: '오퍼레이터의 Deployment입니다.',
  }),
  own('apps', 'deployments', [managedObjects.legacyController], ['get', 'patch'], {
    en: 'Checks whether the legacy controller runs. patch: scales it to 0 when a user requests the takeover.',
    ko: '기존 컨트롤러가 실행 중인지 확인합니다. patch는 사용자가 인계를 요청했을 때 0으로 줄이는 데만 사용합니다.',
  }),
  own('', 'services', operatorServices, keepAndDelete, {
    en: 'Services of the operator.',
    ko: '오퍼레이터의 Service입니다.',
  }),
  own('policy', 'poddisruptionbudgets', [managedObjects.controller], keepAndDelete, {
    en: 'PodDisruptionBudget of an operator with several replicas.',
    ko: '복제본이 여럿인 오퍼레이터의 PodDisruptionBudget입니다.',
  }),
  own('apps', 'statefulsets', [managedObjects.database], keepAndDelete, {
    en: 'StatefulSet of MariaDB.',
    ko: 'MariaDB의 StatefulSet입니다.',
  }),
  own('', 'services', [managedObjects.database], keepAndDelete, {
    en: 'Service of MariaDB.',
    ko: 'MariaDB의 Service입니다.',
  }),
  own('', 'persistentvolumeclaims', [managedObjects.databaseClaim, managedObjects.backup], keep, {
    en: 'Volumes of MariaDB and of its backups; lifecycle deletes none.',
    ko: 'MariaDB와 백업의 볼륨입니다. lifecycle은 삭제하지 않습니다.',
  }),
  own('batch', 'cronjobs', [managedObjects.backup], keepAndDelete, {
    en: 'Scheduled backups.',
    ko: '예약된 백업입니다.',
  }),
  own('', 'configmaps', [triggerConfigMap.name], keepAndDelete, {
    en: 'Sets when the operator syncs OpenstackConfigs.',
    ko: '오퍼레이터가 OpenstackConfig를 언제 동기화할지 정합니다.',
  }),
  own('', 'secrets', [managedObjects.credentials], [...follow, ...keep], {
    en: 'Passwords of MariaDB; lifecycle deletes none.',
    ko: 'MariaDB의 비밀번호입니다. lifecycle은 삭제하지 않습니다.',
  }),
  own('', 'secrets', [managedObjects.webhookAuthority], keep, {
    en: 'CA that signs the certificate of the webhook.',
    ko: '웹훅 인증서를 서명하는 인증 기관입니다.',
  }),
  own('', 'secrets', [managedObjects.webhookCertificate], [...follow, ...keep], {
    en: 'Certificate of the webhook, used by every replica.',
    ko: '웹훅의 인증서이며 모든 복제본이 사용합니다.',
  }),
];

const working: readonly LifecycleRight[] = [
  own('coordination.k8s.io', 'leases', [leaseName], ['get', 'patch'], {
    en: 'Elects the replica that installs and recovers.',
    ko: '설치와 복구를 수행할 복제본 하나를 선출합니다.',
  }),
  {
    group: 'coordination.k8s.io',
    resource: 'leases',
    verbs: ['create'],
    where: 'own',
    why: {
      en: 'Creates the lease at the first start. RBAC cannot limit create to a name.',
      ko: '처음 시작할 때 Lease를 만듭니다. RBAC은 create 권한을 이름으로 제한할 수 없습니다.',
    },
  },
  {
    group: '',
    resource: 'events',
    verbs: ['create', 'patch'],
    where: 'own',
    why: {
      en: 'Writes Events: repairs and refusals on the MultiNicOperator, missing rights on the Pod.',
      ko: '복구와 거부를 MultiNicOperator의 Event로, 부족한 권한을 Pod의 Event로 남깁니다.',
    },
  },
];

/** Returns lifecycle's rights in the management cluster. */
export function lifecycleRights(namespace: string): RightsTable<LifecyclePlace, never> {
  return {
    clusterRole: 'multinic-lifecycle',
    roles: { own: 'multinic-lifecycle' },
    rights: [...clusterWide(namespace), ...following(), ...keeping, ...working],
  };
}

export function placesOf({
  namespace,
}: Pick<LifecycleSettings, 'namespace'>): Places<LifecyclePlace> {
  return { cluster: 'cluster', own: [namespace] };
}
