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
      en: 'Reads the networks of Services, to refuse NICs that overlap them.',
      ko: 'Service의 네트워크를 읽어, 겹치는 NIC를 거부합니다.',
    },
    ...optional,
  },
  {
    group: '',
    resource: 'services',
    verbs: ['list'],
    where: 'cluster',
    why: {
      en: 'Reads the addresses of all Services if neither a setting, a ServiceCIDR nor kubeadm-config names their networks.',
      ko: '설정, ServiceCIDR, kubeadm-config 어디에도 Service의 네트워크가 없을 때 모든 Service의 주소를 읽습니다.',
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
      en: 'Reads the Service address of the API server, which each agent must still reach by another link than the NIC.',
      ko: 'API 서버의 Service 주소를 읽습니다. 에이전트는 이 주소가 NIC가 아닌 링크로 연결되는지 확인합니다.',
    },
  },
  {
    ...own,
    group: 'discovery.k8s.io',
    resource: 'endpointslices',
    why: {
      en: 'Reads the addresses of the API servers, for the same check.',
      ko: '같은 확인을 위해 API 서버들의 주소를 읽습니다.',
    },
  },
  {
    ...own,
    group: '',
    resource: 'endpoints',
    why: {
      en: 'Reads the addresses of the API servers in clusters without EndpointSlices.',
      ko: 'EndpointSlice가 없는 클러스터에서 API 서버들의 주소를 읽습니다.',
    },
  },
  {
    group: '',
    resource: 'configmaps',
    names: [clusterNetworksName],
    verbs: ['get', 'patch'],
    where: 'own',
    why: {
      en: 'Publishes the networks for Viola and for multinic plan.',
      ko: 'Viola와 multinic plan에 네트워크를 알립니다.',
    },
    ...optional,
  },
];
