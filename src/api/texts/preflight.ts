import type { Wording } from './text.ts';

/** Texts in `multinic doctor --pre`. */
export const preflightTexts = {
  kinds: { en: 'Kinds of {cluster}', ko: '{cluster}의 리소스 종류' },
  rights: { en: 'Rights in {cluster}', ko: '{cluster}의 권한' },
  definitions: { en: 'CRDs of {cluster}', ko: '{cluster}의 CRD' },
  nodes: { en: 'Nodes of {cluster}', ko: '{cluster}의 Node' },
  networks: { en: 'Networks of {cluster}', ko: '{cluster}의 네트워크' },
  allServed: {
    en: 'the clusters serve all {count} kinds',
    ko: '클러스터가 {count}개 종류를 모두 제공합니다',
  },
  notServed: {
    en: 'Kubernetes {version} does not serve {kind} ({group})',
    ko: 'Kubernetes {version}이 {kind}({group})를 제공하지 않습니다',
  },
  mayInstall: { en: 'your user may install the charts', ko: '차트를 설치할 권한이 있습니다' },
  mayNot: {
    en: 'your user may not {verbs} {kind} in {where}',
    ko: '{where}에서 {kind}에 대한 {verbs} 권한이 없습니다',
  },
  undecided: {
    en: 'the API server could not decide about {kinds}',
    ko: 'API 서버가 {kinds}의 권한을 판단하지 못했습니다',
  },
  checkAuthorizer: {
    en: 'check the authorization webhook of the API server, and run doctor --pre again',
    ko: 'API 서버의 인가 웹훅을 확인하고 doctor --pre를 다시 실행하십시오',
  },
  noneInstalled: {
    en: 'no CRD of MultiNIC is installed, or all are of this release',
    ko: '설치된 MultiNIC CRD가 없거나 모두 이 릴리스의 CRD입니다',
  },
  older: {
    en: '{name} has schema {installed}, this release needs {expected}',
    ko: '{name}의 스키마는 {installed}이고 이 릴리스에는 {expected}이(가) 필요합니다',
  },
  newer: {
    en: '{name} has schema {installed}, this release knows {expected}',
    ko: '{name}의 스키마는 {installed}이고 이 릴리스는 {expected}까지 지원합니다',
  },
  foreign: { en: '{name} has no schema number', ko: '{name}에 스키마 번호가 없습니다' },
  nodesGood: {
    en: '{nodes} with own systemUUIDs',
    ko: '노드 {nodes}개의 systemUUID가 서로 다릅니다',
  },
  noUuid: { en: 'the Node has no systemUUID', ko: 'Node에 systemUUID가 없습니다' },
  sameUuid: {
    en: 'the systemUUID {uuid} is that of {others}, too',
    ko: 'systemUUID {uuid}가 {others}와 같습니다',
  },
  osImage: { en: 'OS image "{osImage}": {state}', ko: 'OS 이미지 "{osImage}": {state}' },
  filesProven: {
    en: 'files proven, boot and reboot not proven',
    ko: '파일은 검증되었으나 부팅과 재부팅은 검증되지 않았습니다',
  },
  notProven: { en: 'not proven', ko: '검증되지 않았습니다' },
  notInMatrix: { en: 'not in the support matrix', ko: '지원 목록에 없습니다' },
  image: { en: 'Image {image} on {nodes}', ko: '{nodes}의 이미지 {image}' },
  imageUnlisted: {
    en: 'not in status.images, which lists 50 images at most',
    ko: 'status.images에 없습니다. 이 목록에는 이미지가 최대 50개까지만 있습니다',
  },
  listImages: {
    en: 'on the node: crictl images; otherwise the kubelet pulls the image',
    ko: '노드에서 crictl images로 확인하십시오. 없으면 kubelet이 이미지를 가져옵니다',
  },
  noServer: {
    en: 'the project has no server {uuid}, the systemUUID of the Node',
    ko: '프로젝트에 Node의 systemUUID인 서버 {uuid}가 없습니다',
  },
  networksKnown: { en: 'Services and Pods: {networks}', ko: 'Service와 Pod: {networks}' },
  networksUnknown: {
    en: 'the cluster names no networks for Services and Pods; set controller.serviceCIDRs and controller.podNetworks of the agent chart',
    ko: '클러스터에 Service와 Pod 네트워크 정보가 없습니다. 에이전트 차트의 controller.serviceCIDRs와 controller.podNetworks를 설정하십시오',
  },
  login: { en: 'Keystone login', ko: 'Keystone 로그인' },
  serverList: { en: 'List of servers', ko: '서버 목록' },
  portList: { en: 'List of ports', ko: '포트 목록' },
  cloudGood: {
    en: 'login, {servers} and their ports',
    ko: '로그인, 서버 {servers}개와 포트를 조회했습니다',
  },
  noCloud: { en: 'no --cloud FILE', ko: '--cloud FILE이 없습니다' },
  giveCloud: {
    en: 'give a clouds.yaml with one cloud: --cloud FILE',
    ko: '클라우드가 하나인 clouds.yaml을 지정하십시오: --cloud FILE',
  },
  cloudFile: {
    en: 'correct the file that --cloud names',
    ko: '--cloud로 지정한 파일을 수정하십시오',
  },
  checkCloud: {
    en: 'check URL, account and password in {file}',
    ko: '{file}의 URL, 계정, 비밀번호를 확인하십시오',
  },
  noBusiness: { en: 'no business cluster', ko: '비즈니스 클러스터가 지정되지 않았습니다' },
  giveBusiness: {
    en: 'add --business-context PROVIDER=CONTEXT or --business-kubeconfig PROVIDER=FILE',
    ko: '--business-context PROVIDER=CONTEXT 또는 --business-kubeconfig PROVIDER=FILE을 추가하십시오',
  },
  businessNodes: { en: 'Nodes of the business cluster', ko: '비즈니스 클러스터의 Node' },
  before: {
    en: 'Before the installation of MultiNIC {version}',
    ko: 'MultiNIC {version} 설치 전 점검',
  },
} as const satisfies Readonly<Record<string, Wording>>;
