import type { DefinitionName } from '../api/crd/schema-numbers.ts';
import { managedObjects, managementGroup } from '../api/names.ts';
import { triggerConfigMap } from '../api/trigger-config.ts';
import type { Places, Right, RightsTable, Verb } from '../kube/rights.ts';
import { operatorServices } from './managed-controller/base.ts';
import { multiNicOperators } from './multinicoperator.ts';
import type { LifecycleSettings } from './settings.ts';

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
        en: 'The desired installation; get: the counters that all replicas add to; patch: the finalizer. An object in another namespace is refused there.',
        ko: '원하는 설치 상태를 읽습니다. get은 모든 복제본이 더하는 횟수를 읽을 때, patch는 finalizer에만 사용합니다. 다른 네임스페이스의 객체는 그곳에서 거부합니다.',
      },
    },
    {
      ...operators,
      resource: `${multiNicOperators.plural}/status`,
      verbs: ['patch'],
      why: { en: 'Phase, conditions and counters.', ko: '단계, 조건, 횟수를 status에 기록합니다.' },
    },
    {
      group: 'apiextensions.k8s.io',
      resource: 'customresourcedefinitions',
      names: [definition],
      verbs: ['get'],
      where: 'cluster',
      why: {
        en: 'Whether the installed kind has all fields of this build: others would be dropped in silence.',
        ko: '설치된 CRD에 이 빌드의 모든 필드가 있는지 확인합니다. 없는 필드는 조용히 사라집니다.',
      },
    },
    {
      group: '',
      resource: 'namespaces',
      names: [namespace],
      verbs: ['get', ...follow],
      where: 'cluster',
      why: {
        en: 'Whether its own namespace is being deleted: then it removes finalizer and webhook at once.',
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
        en: 'The configuration of its own webhook, which comes back when a user deletes it. Its holder decides what this webhook sees: guard the token of lifecycle.',
        ko: '자신의 웹훅 설정이며 삭제되면 다시 만듭니다. 이 권한으로 웹훅이 받는 요청을 정할 수 있으므로 lifecycle의 토큰을 보호하십시오.',
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
        en: 'Managed objects by label, to restore one that was changed or deleted.',
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
        en: 'Why a Pod of the operator, of MariaDB or of a backup does not run.',
        ko: '오퍼레이터, MariaDB, 백업의 Pod가 실행되지 않는 이유를 확인합니다.',
      },
    },
    {
      group: 'batch',
      resource: 'jobs',
      verbs: [...follow, 'create', 'patch', 'delete'],
      where: 'own',
      why: {
        en: 'Backups before an upgrade and restores; their names hold the request, so they cannot be known before.',
        ko: '업그레이드 전 백업과 복원 Job입니다. 이름에 요청이 들어가므로 미리 알 수 없습니다.',
      },
    },
  ];
}

const keeping: readonly LifecycleRight[] = [
  own('apps', 'deployments', [managedObjects.controller], keepAndDelete, {
    en: 'The operator.',
    ko: '오퍼레이터입니다.',
  }),
  own('apps', 'deployments', [managedObjects.legacyController], ['get', 'patch'], {
    en: 'Whether the legacy controller runs; patch: scale it to 0 when a user asks to take over.',
    ko: '기존 컨트롤러가 실행 중인지 확인합니다. patch는 사용자가 인계를 요청했을 때 0으로 줄이는 데만 사용합니다.',
  }),
  own('', 'services', operatorServices, keepAndDelete, {
    en: 'Services of the operator.',
    ko: '오퍼레이터의 Service입니다.',
  }),
  own('policy', 'poddisruptionbudgets', [managedObjects.controller], keepAndDelete, {
    en: 'Disruption budget of an operator with several replicas.',
    ko: '복제본이 여럿인 오퍼레이터의 PodDisruptionBudget입니다.',
  }),
  own('apps', 'statefulsets', [managedObjects.database], keepAndDelete, {
    en: 'MariaDB.',
    ko: 'MariaDB입니다.',
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
    en: 'When the operator syncs OpenstackConfigs.',
    ko: '오퍼레이터가 OpenstackConfig를 언제 동기화할지 정합니다.',
  }),
  own('', 'secrets', [managedObjects.credentials], [...follow, ...keep], {
    en: 'Passwords of MariaDB; lifecycle deletes none.',
    ko: 'MariaDB의 비밀번호입니다. lifecycle은 삭제하지 않습니다.',
  }),
  own('', 'secrets', [managedObjects.webhookAuthority], keep, {
    en: 'Authority that signs the certificate of its webhook.',
    ko: '웹훅 인증서를 서명하는 인증 기관입니다.',
  }),
  own('', 'secrets', [managedObjects.webhookCertificate], [...follow, ...keep], {
    en: 'Certificate of its webhook; every replica serves with it.',
    ko: '웹훅의 인증서이며 모든 복제본이 사용합니다.',
  }),
];

const working: readonly LifecycleRight[] = [
  own('coordination.k8s.io', 'leases', [leaseName], ['get', 'patch'], {
    en: 'One of several replicas installs and recovers.',
    ko: '여러 복제본 중 하나만 설치와 복구를 합니다.',
  }),
  {
    group: 'coordination.k8s.io',
    resource: 'leases',
    verbs: ['create'],
    where: 'own',
    why: {
      en: 'The lease, at the first start. A create cannot be held to a name.',
      ko: '처음 시작할 때 lease를 만듭니다. create 권한은 이름으로 제한할 수 없습니다.',
    },
  },
  {
    group: '',
    resource: 'events',
    verbs: ['create', 'patch'],
    where: 'own',
    why: {
      en: 'Repairs and refusals, as Events on the MultiNicOperator, and missing rights on the Pod.',
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
