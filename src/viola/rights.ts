import { clusterNetworksName } from '../api/cluster-networks.ts';
import { businessGroup, identityNamespace } from '../api/names.ts';
import type { Places, RightsTable } from '../kube/rights.ts';
import { nodeConfigs } from './node-configs/node-config.ts';
import type { ViolaSettings } from './settings.ts';

/** `own`: Viola's own namespace. */
export type ViolaPlace = 'registrations' | 'own';

/** Rights that Viola needs in the management cluster. */
export const violaRights: RightsTable<ViolaPlace, never> = {
  roles: { registrations: 'viola-api', own: 'viola-api-events' },
  rights: [
    {
      group: '',
      resource: 'secrets',
      verbs: ['list', 'watch'],
      where: 'registrations',
      why: {
        en: 'Reads the Secrets that register business clusters, in a namespace for these Secrets only.',
        ko: '비즈니스 클러스터를 등록하는 Secret을 읽습니다. 이 네임스페이스에는 이 Secret만 있습니다.',
      },
    },
    {
      group: '',
      resource: 'secrets',
      verbs: ['patch'],
      where: 'registrations',
      why: {
        en: 'Stores a renewed token in its registration Secret.',
        ko: '갱신한 토큰을 등록 Secret에 저장합니다.',
      },
      rare: true,
    },
    {
      group: '',
      resource: 'events',
      verbs: ['create', 'patch'],
      where: 'own',
      why: {
        en: 'Records Events on the Pod of Viola, for example about missing rights.',
        ko: '부족한 권한 등을 Viola의 Pod에 Event로 기록합니다.',
      },
      rare: true,
    },
  ],
};

/** `objects`: namespace of the node configs. `kubeSystem`: Namespace whose uid identifies the cluster. */
export type WriterPlace = 'objects' | 'kubeSystem';

/** Rights that a registration's identity needs in its business cluster. */
export const writerRights: RightsTable<WriterPlace, never> = {
  roles: { objects: 'viola', kubeSystem: 'multinic-viola' },
  rights: [
    {
      group: businessGroup,
      resource: nodeConfigs.plural,
      verbs: ['get', 'list', 'create', 'patch', 'delete'],
      where: 'objects',
      why: {
        en: 'Reads, writes and deletes node configs.',
        ko: '노드 설정을 읽고 쓰고 삭제합니다.',
      },
    },
    {
      group: '',
      resource: 'serviceaccounts/token',
      names: ['viola'],
      verbs: ['create'],
      where: 'objects',
      why: {
        en: 'Renews its own token after half of its lifetime.',
        ko: '유효 기간의 절반이 지나면 자신의 토큰을 갱신합니다.',
      },
      rare: true,
    },
    {
      group: '',
      resource: 'configmaps',
      names: [clusterNetworksName],
      verbs: ['get'],
      where: 'objects',
      why: {
        en: 'Reads the networks of the cluster, which no NIC may overlap.',
        ko: 'NIC가 겹치면 안 되는 클러스터의 네트워크를 읽습니다.',
      },
      rare: true,
      optional: true,
    },
    {
      group: '',
      resource: 'namespaces',
      names: [identityNamespace],
      verbs: ['get'],
      where: 'kubeSystem',
      why: {
        en: 'Its uid identifies the cluster, so a cluster with two ids is recognised.',
        ko: 'uid로 클러스터를 식별하여 두 ID로 등록된 클러스터를 알아냅니다.',
      },
      rare: true,
      optional: true,
    },
  ],
};

export function writerPlacesOf(namespace: string): Places<WriterPlace> {
  return { objects: [namespace], kubeSystem: [identityNamespace] };
}

export function placesOf(
  { registrationsNamespace }: Pick<ViolaSettings, 'registrationsNamespace'>,
  ownNamespace: string | undefined,
): Places<ViolaPlace> {
  // Outside a cluster no Pod exists for Events.
  const own = ownNamespace === undefined ? [] : [ownNamespace];
  return { registrations: [registrationsNamespace], own };
}
