import type { DefinitionName } from '../api/crd/schema-numbers.ts';
import { managementGroup, namespaces, operatorLease } from '../api/names.ts';
import { triggerConfigMap } from '../api/trigger-config.ts';
import type { Places, Right, RightsTable } from '../kube/rights.ts';
import { openstackConfigs } from './openstack-config.ts';

export const leaseName = operatorLease;

/** Secrets for authentication between operator and Viola, when managed by the operator. */
const accessSecrets = {
  tokens: ['multinic-operator-viola-token', 'viola-api-tokens'],
  certificates: ['multinic-ca', 'viola-api-tls'],
} as const;

/**
 * `configs`: namespaces with watched OpenstackConfigs. `own`, `access`: the operator's namespace. `secrets`,
 * `brokerSecrets`: namespaces with readable Secrets for OpenstackConfigs.
 */
export type OperatorPlace = 'cluster' | 'configs' | 'own' | 'access' | 'secrets' | 'brokerSecrets';
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
        en: 'What is wanted. patch: the finalizer, and for a call of the trigger endpoint an annotation; nothing else of the object.',
        ko: '원하는 상태를 읽습니다. patch는 finalizer와, 트리거 엔드포인트 호출 시 주석에만 씁니다.',
      },
    },
    {
      group: managementGroup,
      resource: `${openstackConfigs.plural}/status`,
      verbs: ['patch'],
      where: 'configs',
      why: { en: 'What came of it.', ko: '결과를 status에 기록합니다.' },
    },
    {
      ...events,
      verbs: ['create'],
      where: 'configs',
      why: {
        en: 'What happens is told on the object, and what is missing at the start on the Pod.',
        ko: '객체에 Event로 알리고, 시작할 때 부족한 것은 Pod에 알립니다.',
      },
    },
    {
      ...events,
      verbs: ['patch'],
      where: 'configs',
      why: {
        en: 'The same again is counted in the Event that is there.',
        ko: '같은 일이 다시 생기면 이미 있는 Event에 횟수만 더합니다.',
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
        en: 'Whether the installed kind has all fields of this build, as others would be dropped in silence; and whether an OpenstackConfig goes because its kind does.',
        ko: '설치된 CRD에 이 빌드의 모든 필드가 있는지(없는 필드는 조용히 사라집니다), OpenstackConfig가 CRD 삭제 때문에 삭제되는지 확인합니다.',
      },
      when: 'everywhere',
    },
    {
      // A namespace's Role allows reading only this Namespace object.
      group: '',
      resource: 'namespaces',
      verbs: ['get'],
      where: 'configs',
      why: {
        en: 'Whether an OpenstackConfig goes because its namespace does: its NICs are kept then until somebody agrees.',
        ko: 'OpenstackConfig가 네임스페이스 삭제 때문에 삭제되는지 확인합니다. 그 경우 승인 전까지 NIC를 유지합니다.',
      },
      rare: true,
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
      resource: 'configmaps',
      names: [triggerConfigMap.name],
      verbs: ['list', 'watch'],
      where: 'own',
      why: {
        en: 'When OpenstackConfigs are looked at.',
        ko: 'OpenstackConfig를 언제 조회할지 읽습니다.',
      },
    },
    {
      ...events,
      verbs: ['create', 'patch'],
      where: 'own',
      why: {
        en: 'What is missing at the start is told on the Pod.',
        ko: '시작할 때 부족한 것을 Pod에 Event로 알립니다.',
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
        en: 'The encryption key that an OpenstackConfig refers to lies in its own namespace.',
        ko: 'OpenstackConfig가 가리키는 암호화 키는 같은 네임스페이스에 있습니다.',
      },
    },
    {
      group: '',
      resource: 'secrets',
      verbs: ['create', 'patch'],
      where: 'brokerSecrets',
      why: {
        en: 'The Secret rabbitmq-NAME beside each OpenstackConfig, with what Contrabass says of the message queue. The names cannot be known before.',
        ko: '각 OpenstackConfig 옆의 Secret rabbitmq-NAME에 Contrabass가 알려 준 메시지 큐 정보를 씁니다. 이름을 미리 알 수 없습니다.',
      },
      when: 'rabbitmqSecrets',
    },
    managedSecretRight('managedTokens', accessSecrets.tokens, {
      en: 'The token by which the operator calls Viola, and the list in which Viola finds it.',
      ko: '오퍼레이터가 Viola를 호출하는 토큰과 Viola가 확인하는 목록입니다.',
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
    own: [namespace],
    access: [namespace],
    secrets,
    brokerSecrets: secrets,
  };
}
