import { row, type StatusReasonRow } from './reason-row.ts';

/** Reasons of conditions beside Ready: the sync goes on, and a user should act. */
export const noticeReasons = {
  SecretInSpec: row(
    'openstackconfig',
    false,
    [
      'The object contains a password or key, which every user who may read the object can see. The operator still uses it.',
      '객체에 암호나 키가 있어 객체를 읽을 수 있는 모든 사용자에게 보입니다. 오퍼레이터는 이 값을 계속 사용합니다.',
    ],
    [
      'Move it to a Secret; the message names the field and the field to use instead.',
      'Secret으로 옮기십시오. 해당 필드와 대신 쓸 필드는 메시지에 있습니다.',
    ],
    { alerts: [] },
  ),
  TLSNotVerified: row(
    'openstackconfig',
    false,
    [
      'The object, or the clouds.yaml of its Secret, switches certificate verification off, and the policy of the operator allows this for these endpoints. An attacker on the network path can read and change all traffic, passwords included.',
      '객체 또는 Secret의 clouds.yaml이 인증서 검증을 끄며, 오퍼레이터 정책이 해당 엔드포인트에서 이를 허용합니다. 네트워크 경로의 공격자가 암호를 포함한 모든 내용을 읽고 바꿀 수 있습니다.',
    ],
    [
      'Configure the CA certificate instead: OPENSTACK_CA_FILE, CONTRABASS_CA_FILE, or cacert in the clouds.yaml.',
      '대신 CA 인증서를 지정하십시오: OPENSTACK_CA_FILE, CONTRABASS_CA_FILE 또는 clouds.yaml의 cacert.',
    ],
    { alerts: [] },
  ),
  DuplicateCluster: row(
    'openstackconfig',
    false,
    [
      'One business cluster is registered under several ids. Its nodes are still delivered, and no NIC is removed because an OpenstackConfig has changed from one of these ids to another.',
      '비즈니스 클러스터 하나가 여러 ID로 등록되어 있습니다. 노드는 계속 전달하며, OpenstackConfig가 이 ID들 사이에서 바뀌었다는 이유로 NIC를 제거하지 않습니다.',
    ],
    [
      'Keep the registration Secret of one id. Set spec.credentials.k8sProviderID of all OpenstackConfigs for this cluster to that id, then delete the registration Secrets of the other ids.',
      '한 ID의 등록 Secret만 남기십시오. 이 클러스터를 쓰는 모든 OpenstackConfig의 spec.credentials.k8sProviderID를 그 ID로 설정한 뒤 나머지 ID의 등록 Secret을 삭제하십시오.',
    ],
    { alerts: [] },
  ),
} as const satisfies Record<string, StatusReasonRow>;
