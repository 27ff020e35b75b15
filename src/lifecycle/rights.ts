import type { DefinitionName } from '../api/crd/schema-numbers.ts';
import { managedObjects, managementGroup } from '../api/names.ts';
import type { Places, RightsTable } from '../kube/rights.ts';
import { multiNicOperators } from './multinicoperator.ts';
import type { LifecycleSettings } from './settings.ts';

export const leaseName = 'multinic-lifecycle';

export const definition: DefinitionName = 'multinicoperators.multinic.example.com';

export type LifecyclePlace = 'cluster' | 'own';

const operators = { group: managementGroup, resource: multiNicOperators.plural } as const;

/** What lifecycle has to be allowed. */
export function lifecycleRights(namespace: string): RightsTable<LifecyclePlace, never> {
  return {
    clusterRole: 'multinic-lifecycle',
    roles: { own: 'multinic-lifecycle' },
    rights: [
      {
        ...operators,
        verbs: ['list', 'watch', 'patch'],
        where: 'cluster',
        why: {
          en: 'What is to be installed; patch: the finalizer. One in another namespace is refused there.',
          ko: '설치할 내용입니다. patch는 finalizer에만 사용합니다. 다른 네임스페이스의 객체는 그곳에서 거부합니다.',
        },
      },
      {
        group: '',
        resource: 'namespaces',
        names: [namespace],
        verbs: ['list', 'watch'],
        where: 'cluster',
        why: {
          en: 'Whether its own namespace is being deleted.',
          ko: '자신의 네임스페이스가 삭제되는지 확인합니다.',
        },
      },
      {
        group: '',
        resource: 'secrets',
        names: [managedObjects.credentials],
        verbs: ['get', 'list', 'watch', 'patch'],
        where: 'own',
        why: { en: 'Passwords of MariaDB.', ko: 'MariaDB의 비밀번호입니다.' },
      },
    ],
  };
}

export function placesOf({
  namespace,
}: Pick<LifecycleSettings, 'namespace'>): Places<LifecyclePlace> {
  return { cluster: 'cluster', own: [namespace] };
}
