import { listViolaPods, multinic } from './next-step-row.ts';
import { type ReasonRow, row } from './reason-row.ts';

/** Codes of ViolaPostError: rows with the next step by cause. */
export const deliveryReasons = {
  ViolaUnavailable: row(
    'openstackconfig',
    true,
    [
      'Code of ViolaPostError: Viola does not answer, or answers with a server error. Nodes stay unchanged.',
      'ViolaPostError의 코드: Viola가 응답하지 않거나 서버 오류로 응답합니다. 노드는 그대로 유지됩니다.',
    ],
    [
      'Check that the Pods of Viola run, and that the operator reaches the address in the message; the operator retries.',
      'Viola의 Pod가 실행 중이고 오퍼레이터가 메시지의 주소에 연결할 수 있는지 확인하십시오. 자동으로 재시도합니다.',
    ],
    {
      nextStep: listViolaPods,
    },
  ),
  ClusterNotRegistered: row(
    'openstackconfig',
    true,
    [
      'Code of ViolaPostError: Viola knows no business cluster with the id in spec.credentials.',
      'ViolaPostError의 코드: spec.credentials의 ID를 가진 비즈니스 클러스터가 Viola에 없습니다.',
    ],
    [
      "Correct the id, or register the business cluster with an administrator's kubeconfig: kubectl multinic register-cluster.",
      'ID를 수정하거나 관리자의 kubeconfig로 비즈니스 클러스터를 등록하십시오: kubectl multinic register-cluster.',
    ],
    { nextStep: [registerCluster()] },
  ),
  TokenRefused: row(
    'openstackconfig',
    true,
    [
      'Code of ViolaPostError: Viola refuses the token of the operator, or the token has no right to this business cluster.',
      'ViolaPostError의 코드: Viola가 오퍼레이터의 토큰을 거부하거나 토큰에 이 비즈니스 클러스터에 대한 권한이 없습니다.',
    ],
    [
      'Wait some minutes if the operator manages the tokens: it writes missing ones again. Otherwise correct the entry in the tokens file of Viola.',
      '오퍼레이터가 토큰을 관리하면 몇 분 기다리십시오. 없는 토큰을 다시 기록합니다. 그렇지 않으면 Viola의 토큰 파일 항목을 수정하십시오.',
    ],
  ),
  ClusterUnreachable: row(
    'openstackconfig',
    true,
    [
      'Code of ViolaPostError: Viola does not reach the API server of the business cluster, or its credential is refused there.',
      'ViolaPostError의 코드: Viola가 비즈니스 클러스터의 API 서버에 연결하지 못하거나 그곳에서 자격 증명이 거부됩니다.',
    ],
    [
      'Check the address and the network of the business cluster. If the message has status 401 or 403, register it again: kubectl multinic register-cluster.',
      '비즈니스 클러스터의 주소와 네트워크를 확인하십시오. 메시지에 상태 401 또는 403이 있으면 다시 등록하십시오: kubectl multinic register-cluster.',
    ],
  ),
  NodeRefused: row(
    'openstackconfig',
    true,
    [
      'Code of ViolaPostError: Viola or the API server of the business cluster refuses a node; other nodes are delivered.',
      'ViolaPostError의 코드: Viola 또는 비즈니스 클러스터의 API 서버가 노드를 거부합니다. 다른 노드는 전달됩니다.',
    ],
    [
      'Correct the field or the other writer that the message names after the node.',
      '메시지에서 노드 다음에 나오는 필드 또는 다른 작성자를 수정하십시오.',
    ],
  ),
} as const satisfies Record<string, ReasonRow>;

function registerCluster() {
  const command = multinic(
    'register-cluster',
    '{provider}',
    '--business-kubeconfig',
    '{provider}.kubeconfig',
  );
  return {
    text: {
      en: "register it with an administrator's kubeconfig of the business cluster, here {provider}.kubeconfig:",
      ko: '비즈니스 클러스터 관리자의 kubeconfig(여기서는 {provider}.kubeconfig)로 등록하십시오.',
    },
    commands: [command],
    preview: [[...command, '--dry-run']],
  };
}
