import { listSystemUuids } from './next-step-row.ts';
import { type ReasonRow, row } from './reason-row.ts';

/** Reasons in `multinic doctor --pre` only, never in a status. */
export const preflightReasons = {
  KindNotServed: row(
    'part',
    false,
    [
      'The cluster does not serve a kind that the chart creates.',
      '차트가 만드는 리소스 종류를 클러스터가 제공하지 않습니다.',
    ],
    [
      'Upgrade Kubernetes to a version that serves the kind.',
      '이 종류를 제공하는 Kubernetes 버전으로 업그레이드하십시오.',
    ],
  ),
  InstallRightMissing: row(
    'part',
    false,
    [
      'Your user may not create, change or delete a kind that the chart installs.',
      '차트가 설치하는 리소스를 만들거나 변경하거나 삭제할 권한이 없습니다.',
    ],
    [
      'Install with a kubeconfig whose user has the right (an administrator of the cluster).',
      '권한이 있는 사용자(클러스터 관리자)의 kubeconfig로 설치하십시오.',
    ],
  ),
  ForeignCRD: row(
    'part',
    false,
    [
      'A CustomResourceDefinition has a name of MultiNIC without its schema number: it is of an earlier generation or of another product.',
      'MultiNIC의 이름을 가진 CustomResourceDefinition에 스키마 번호가 없습니다. 이전 세대나 다른 제품의 CRD입니다.',
    ],
    [
      'If the CRD is of an earlier generation of MultiNIC, follow docs/guides/migrate.md. Otherwise remove the other product first.',
      '이전 세대 MultiNIC의 CRD이면 docs/guides/migrate.ko.md를 따르십시오. 아니면 먼저 다른 제품을 제거하십시오.',
    ],
  ),
  SystemUUIDMissing: row(
    'node',
    false,
    [
      'A Node reports no systemUUID, so MultiNIC cannot find its OpenStack server.',
      'Node가 systemUUID를 보고하지 않아 MultiNIC이 OpenStack 서버를 찾을 수 없습니다.',
    ],
    [
      'Check that the node is an OpenStack server and that its kubelet reads /sys/class/dmi/id/product_uuid.',
      '노드가 OpenStack 서버인지, kubelet이 /sys/class/dmi/id/product_uuid를 읽는지 확인하십시오.',
    ],
    { nextStep: listSystemUuids },
  ),
  HostNotProven: row(
    'node',
    false,
    [
      'No test of MultiNIC proves the OS image of the Node with boot and reboot.',
      'Node의 OS 이미지는 MultiNIC의 부팅 및 재부팅 테스트로 검증되지 않았습니다.',
    ],
    [
      'Read the row of the system in docs/support.md, and check one node with the agent in a dry run: kubectl multinic doctor --pre --node NODE --print-request --cloud clouds.yaml.',
      'docs/support.md에서 해당 시스템의 행을 확인하고, 에이전트의 dry run으로 노드 하나를 검사하십시오: kubectl multinic doctor --pre --node NODE --print-request --cloud clouds.yaml.',
    ],
  ),
} as const satisfies Record<string, ReasonRow>;
