import { clusterNetworksName } from '../../api/cluster-networks.ts';
import type { Right } from '../../kube/rights.ts';
import { apiServerRef } from './api-server.ts';
import { kubeadmConfig } from './kubeadm-config.ts';

/** `kubeSystem`: namespace with kubeadm's ConfigMap; `apiServer`: namespace with the Service `kubernetes`. */
export type NetworkPlace = 'cluster' | 'own' | 'kubeSystem' | 'apiServer';

/** Namespaces in every cluster. */
export const networkPlaces = {
  kubeSystem: [kubeadmConfig.namespace],
  apiServer: [apiServerRef.namespace],
} as const;

const optional = { rare: true, optional: true } as const;
const own = {
  names: [apiServerRef.name],
  verbs: ['get'],
  where: 'apiServer',
  ...optional,
} as const;

/** Rights to read and publish the cluster's networks; without a right the controller skips the source. */
export const networkRights: readonly Right<NetworkPlace, never>[] = [
  {
    group: 'networking.k8s.io',
    resource: 'servicecidrs',
    verbs: ['list'],
    where: 'cluster',
    why: {
      en: 'Reads the networks of Services from ServiceCIDR objects. The controller refuses NICs that overlap them.',
      ko: 'ServiceCIDR 객체에서 Service의 네트워크를 읽습니다. 컨트롤러는 이 네트워크와 겹치는 NIC를 거부합니다.',
    },
    ...optional,
  },
  {
    group: '',
    resource: 'services',
    verbs: ['list'],
    where: 'cluster',
    why: {
      en: 'Reads the addresses of all Services if the setting, ServiceCIDR objects and kubeadm-config contain no networks of Services.',
      ko: '설정, ServiceCIDR 객체, kubeadm-config에 Service의 네트워크가 없으면 모든 Service의 주소를 읽습니다.',
    },
    ...optional,
  },
  {
    group: '',
    resource: 'configmaps',
    names: [kubeadmConfig.name],
    verbs: ['get'],
    where: 'kubeSystem',
    why: {
      en: 'Reads the networks of Services and Pods that kubeadm configured.',
      ko: 'kubeadm이 설정한 Service와 Pod의 네트워크를 읽습니다.',
    },
    ...optional,
  },
  {
    ...own,
    group: '',
    resource: 'services',
    why: {
      en: 'Reads the Service address of the API server. Each agent checks that no NIC takes over the route to this address.',
      ko: 'API 서버의 Service 주소를 읽습니다. 각 에이전트는 이 주소로 가는 경로가 NIC로 바뀌지 않는지 확인합니다.',
    },
  },
  {
    ...own,
    group: 'discovery.k8s.io',
    resource: 'endpointslices',
    why: {
      en: 'Reads the endpoint addresses of the API server, for the same check.',
      ko: '같은 확인을 위해 API 서버의 엔드포인트 주소를 읽습니다.',
    },
  },
  {
    ...own,
    group: '',
    resource: 'endpoints',
    why: {
      en: 'Reads the endpoint addresses of the API server in clusters without EndpointSlices.',
      ko: 'EndpointSlice가 없는 클러스터에서 API 서버의 엔드포인트 주소를 읽습니다.',
    },
  },
  {
    group: '',
    resource: 'configmaps',
    names: [clusterNetworksName],
    verbs: ['get', 'patch'],
    where: 'own',
    why: {
      en: 'Publishes the networks of the cluster for Viola, and repairs the ConfigMap.',
      ko: '클러스터의 네트워크를 Viola에 알리고, 변경되거나 삭제된 ConfigMap을 복구합니다.',
    },
    ...optional,
  },
];
