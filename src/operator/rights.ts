import type { DefinitionName } from '../api/crd/schema-numbers.ts';
import { identityNamespace, managementGroup, namespaces, operatorLease } from '../api/names.ts';
import { triggerConfigMap } from '../api/trigger-config.ts';
import type { Places, Right, RightsTable } from '../kube/rights.ts';
import { openstackConfigs } from './model/openstack-config.ts';

export const leaseName = operatorLease;

/** Secrets for authentication between operator and Viola, when managed by the operator. */
const accessSecrets = {
  tokens: ['multinic-operator-viola-token', 'viola-api-tokens'],
  certificates: ['multinic-ca', 'viola-api-tls'],
} as const;

/**
 * `configs`: namespaces with watched OpenstackConfigs. `identity`: the Namespace whose uid identifies the cluster. `own`, `access`: the operator's namespace. `secrets`,
 * `brokerSecrets`: namespaces with readable Secrets for OpenstackConfigs.
 */
export type OperatorPlace =
  | 'cluster'
  | 'configs'
  | 'identity'
  | 'own'
  | 'access'
  | 'secrets'
  | 'brokerSecrets';
/** `everywhere`: OpenstackConfigs in all namespaces are watched, instead of a single namespace. */
export type OperatorWhen =
  | 'everywhere'
  | 'oneNamespace'
  | 'managedTokens'
  | 'managedCertificates'
  | 'rabbitmqSecrets';
type OperatorRight = Right<OperatorPlace, OperatorWhen>;

const definition: DefinitionName = 'openstackconfigs.multinic.example.com';
const leases = { group: 'coordination.k8s.io', resource: 'leases', where: 'own' } as const;
const events = { group: '', resource: 'events' } as const;

function managedSecretRight(
  when: OperatorWhen,
  names: readonly string[],
  why: OperatorRight['why'],
): OperatorRight {
  const verbs = ['get', 'create', 'patch'] as const;
  return { group: '', resource: 'secrets', names, verbs, where: 'access', why, when };
}

/** The operator's rights in the management cluster. */
export const operatorRights: RightsTable<OperatorPlace, OperatorWhen> = {
  clusterRole: 'multinic-operator',
  // Several of these may apply to the same namespace.
  roles: {
    configs: 'multinic-operator-configs',
    identity: 'multinic-operator-identity',
    own: 'multinic-operator',
    access: 'multinic-operator-viola-access',
    secrets: 'multinic-operator-secrets',
    brokerSecrets: 'multinic-operator-rabbitmq',
  },
  rights: [
    {
      group: managementGroup,
      resource: openstackConfigs.plural,
      verbs: ['list', 'watch', 'patch'],
      where: 'configs',
      why: {
        en: 'Reads the desired state. patch: only the finalizer, and an annotation for a request to the trigger endpoint.',
        ko: '원하는 상태를 읽습니다. patch는 finalizer와, 트리거 엔드포인트 호출 시 어노테이션에만 씁니다.',
      },
    },
    {
      group: managementGroup,
      resource: `${openstackConfigs.plural}/status`,
      verbs: ['patch'],
      where: 'configs',
      why: { en: 'Writes the result to the status.', ko: '결과를 status에 기록합니다.' },
    },
    {
      ...events,
      verbs: ['create'],
      where: 'configs',
      why: {
        en: 'Events about an OpenstackConfig, and about rights and fields that are missing at the start.',
        ko: 'OpenstackConfig에 대한 Event와, 시작할 때 없는 권한과 필드에 대한 Event를 기록합니다.',
      },
    },
    {
      ...events,
      verbs: ['patch'],
      where: 'configs',
      why: {
        en: 'Counts a repeated Event in the existing Event.',
        ko: '반복된 Event는 기존 Event의 횟수에 더합니다.',
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
        en: 'Checks that the installed CRD has all fields of this build, because the API server drops unknown fields without an error; and whether an OpenstackConfig is deleted because its CRD is.',
        ko: '설치된 CRD에 이 빌드의 모든 필드가 있는지(API 서버는 모르는 필드를 오류 없이 버립니다), OpenstackConfig가 CRD 삭제 때문에 삭제되는지 확인합니다.',
      },
      when: 'everywhere',
    },
    {
      group: '',
      resource: 'namespaces',
      names: [identityNamespace],
      verbs: ['get'],
      where: 'identity',
      why: {
        en: 'Its uid identifies this cluster: node configs of another management cluster stay untouched.',
        ko: 'uid로 이 클러스터를 식별합니다. 다른 관리 클러스터의 노드 설정은 변경하지 않습니다.',
      },
      // An operator for all namespaces may read all Namespaces.
      when: 'oneNamespace',
    },
    {
      // A namespace's Role allows reading only this Namespace object.
      group: '',
      resource: 'namespaces',
      verbs: ['get'],
      where: 'configs',
      why: {
        en: 'Checks whether an OpenstackConfig is deleted because its namespace is: its NICs then stay until a user approves their removal.',
        ko: 'OpenstackConfig가 네임스페이스 삭제 때문에 삭제되는지 확인합니다. 그 경우 사용자가 제거를 승인할 때까지 NIC를 유지합니다.',
      },
      rare: true,
    },
    {
      ...leases,
      names: [leaseName],
      verbs: ['get', 'patch'],
      why: {
        en: 'Leader election: one of several replicas works.',
        ko: '리더 선출: 여러 복제본 중 하나만 일합니다.',
      },
    },
    {
      ...leases,
      verbs: ['create'],
      why: {
        en: 'Creates the Lease at the first start. RBAC cannot limit create to a name.',
        ko: '처음 시작할 때 Lease를 만듭니다. create 권한은 이름으로 제한할 수 없습니다.',
      },
    },
    {
      group: '',
      resource: 'configmaps',
      names: [triggerConfigMap.name],
      verbs: ['list', 'watch'],
      where: 'own',
      why: {
        en: 'Reads when OpenstackConfigs are synced.',
        ko: 'OpenstackConfig를 언제 동기화할지 읽습니다.',
      },
    },
    {
      ...events,
      verbs: ['create', 'patch'],
      where: 'own',
      why: {
        en: 'Events on the Pod about rights and fields that are missing at the start.',
        ko: '시작할 때 없는 권한과 필드를 Pod의 Event로 알립니다.',
      },
      when: 'oneNamespace',
      rare: true,
    },
    {
      group: '',
      resource: 'secrets',
      verbs: ['get'],
      where: 'secrets',
      why: {
        en: 'Reads Secrets that an OpenstackConfig refers to (encryption key, clouds.yaml), in its own namespace.',
        ko: 'OpenstackConfig가 같은 네임스페이스에서 참조하는 Secret(암호화 키, clouds.yaml)을 읽습니다.',
      },
    },
    {
      group: '',
      resource: 'secrets',
      verbs: ['create', 'patch'],
      where: 'brokerSecrets',
      why: {
        en: 'Writes the Secret rabbitmq-NAME beside each OpenstackConfig, with the message queue that Contrabass returns. RBAC cannot list these names in advance.',
        ko: '각 OpenstackConfig 옆의 Secret rabbitmq-NAME에 Contrabass가 알려 준 메시지 큐 정보를 씁니다. 이름을 RBAC에 미리 적을 수 없습니다.',
      },
      when: 'rabbitmqSecrets',
    },
    managedSecretRight('managedTokens', accessSecrets.tokens, {
      en: 'The token with which the operator calls Viola, and the list of tokens that Viola accepts.',
      ko: '오퍼레이터가 Viola를 호출할 때 쓰는 토큰과 Viola가 허용하는 토큰 목록입니다.',
    }),
    managedSecretRight('managedCertificates', accessSecrets.certificates, {
      en: 'The certificate of Viola, and the CA that signs it.',
      ko: 'Viola 인증서와 이를 서명하는 CA입니다.',
    }),
  ],
};

/** Settings that decide the necessary rights and their namespaces. */
export interface RightsSettings {
  readonly namespace: string;
  readonly watchNamespace: string | undefined;
  readonly secretNamespaces: readonly string[];
  readonly violaAccess: 'managed' | 'given';
  readonly violaTls: 'managed' | 'given';
  readonly rabbitmqSecrets: boolean;
}

/** Returns the necessary rights for an operator with these settings. */
export function neededRights(settings: RightsSettings): readonly OperatorRight[] {
  const holds: Readonly<Record<OperatorWhen, boolean>> = {
    everywhere: settings.watchNamespace === undefined,
    oneNamespace: settings.watchNamespace !== undefined,
    managedTokens: settings.violaAccess === 'managed',
    managedCertificates: settings.violaTls === 'managed',
    rabbitmqSecrets: settings.rabbitmqSecrets,
  };
  return operatorRights.rights.filter(({ when }) => when === undefined || holds[when]);
}

/** Returns the CRD name if the operator may read CRDs; an operator limited to one namespace may not. */
export function definitionOf({ watchNamespace }: RightsSettings): DefinitionName | undefined {
  return watchNamespace === undefined ? definition : undefined;
}

export function placesOf(settings: RightsSettings): Places<OperatorPlace> {
  const { namespace, watchNamespace, secretNamespaces } = settings;
  const watched = watchNamespace === undefined ? undefined : [watchNamespace];
  const secrets = secretNamespaces.length > 0 ? secretNamespaces : (watched ?? [namespaces.system]);
  return {
    cluster: 'cluster',
    configs: watched ?? 'cluster',
    identity: [identityNamespace],
    own: [namespace],
    access: [namespace],
    secrets,
    brokerSecrets: secrets,
  };
}
