import type { Wording } from './text.ts';

/** Texts about facts and missing facts. */
export const accessTexts = {
  noOperator: {
    en: 'no operator: no Deployment with the component operator and no Lease {lease} in namespace {namespaces}',
    ko: '오퍼레이터가 없습니다. 네임스페이스 {namespaces}에 오퍼레이터 Deployment도 Lease {lease}도 없습니다',
  },
  giveOperatorNamespace: {
    en: 'give the namespace of the operator with --operator-namespace, or the context of the management cluster with --context',
    ko: '오퍼레이터의 네임스페이스를 --operator-namespace로, 또는 관리 클러스터의 context를 --context로 지정하십시오',
  },
  noLeader: {
    en: 'no leader: no replica of the operator holds the Lease in namespace {namespace}',
    ko: '리더가 없습니다. 네임스페이스 {namespace}에서 Lease를 가진 오퍼레이터 레플리카가 없습니다',
  },
  operatorIsProcess: {
    en: 'the operator is a process outside the cluster: no Deployment in namespace {namespace}, and {holder} holds the Lease',
    ko: '오퍼레이터가 클러스터 밖의 프로세스입니다. 네임스페이스 {namespace}에 Deployment가 없고 Lease는 {holder}가 가지고 있습니다',
  },
  giveInventory: {
    en: 'give the URL of its API with --inventory URL',
    ko: '--inventory URL로 API의 URL을 지정하십시오',
  },
  needsKubectl: {
    en: 'the operator is reached through kubectl, which is not installed',
    ko: '오퍼레이터는 kubectl을 통해 연결하는데 kubectl이 설치되어 있지 않습니다',
  },
  installKubectl: {
    en: 'install kubectl, or give --inventory URL and --token-file FILE',
    ko: 'kubectl을 설치하거나 --inventory URL과 --token-file FILE을 지정하십시오',
  },
  forwardForbidden: {
    en: 'no access to port-forward (403)',
    ko: 'port-forward 권한이 없습니다(403)',
  },
  forwardFailed: {
    en: 'kubectl port-forward failed: {message}',
    ko: 'kubectl port-forward가 실패했습니다: {message}',
  },
  tryAgain: {
    en: 'try again',
    ko: '다시 시도하십시오',
  },
  noSocketFolder: {
    en: 'kubectl proxy has no folder for its socket: {folders}',
    ko: 'kubectl proxy의 소켓을 둘 폴더가 없습니다: {folders}',
  },
  giveTmpdir: {
    en: 'set TMPDIR to a writable folder with a path of at most 80 characters',
    ko: '경로가 80자 이하이고 쓸 수 있는 폴더를 TMPDIR로 지정하십시오',
  },
  kubectlFailed: {
    en: 'kubectl cannot use the cluster: {message}',
    ko: 'kubectl이 클러스터를 사용할 수 없습니다: {message}',
  },
  checkKubeconfig: {
    en: 'check the kubeconfig with: kubectl config get-contexts; choose a context with {option}',
    ko: 'kubeconfig를 확인하고 {option}로 context를 선택하십시오: kubectl config get-contexts',
  },
  giveKubeconfig: {
    en: 'give an existing file with {option}',
    ko: '존재하는 파일을 {option}로 지정하십시오',
  },
  noCredentials: {
    en: 'the credentials cannot be read: {text}',
    ko: '자격 증명을 얻지 못했습니다: {text}',
  },
  tokenUnreadable: {
    en: 'the token cannot be read: {why}',
    ko: '토큰을 읽을 수 없습니다: {why}',
  },
  giveTokenFile: {
    en: 'give a readable file with --token-file',
    ko: '읽을 수 있는 파일을 --token-file로 지정하십시오',
  },
  agentJobs: {
    en: 'Agent Jobs of {nodeName}',
    ko: '{nodeName}의 에이전트 Job',
  },
  eventsOf: {
    en: 'Events of {nodeName}',
    ko: '{nodeName}의 Event',
  },
  agentLog: {
    en: 'Log of the agent on {nodeName}',
    ko: '{nodeName}의 에이전트 로그',
  },
  inBusinessCluster: {
    en: '{what} of {provider}',
    ko: '{provider}의 {what}',
  },
  kubernetesNodes: {
    en: 'Nodes',
    ko: 'Node',
  },
  nodeConfigs: {
    en: 'MultiNicNodeConfigs',
    ko: 'MultiNicNodeConfig',
  },
  controller: {
    en: 'Controller',
    ko: '컨트롤러',
  },
  clusterNetworks: {
    en: 'Networks for Services and Pods',
    ko: 'Service·Pod 네트워크',
  },
  parts: {
    en: 'Parts',
    ko: '구성 요소',
  },
  noDeployment: {
    en: 'no Deployment of MultiNIC in namespace {namespace}',
    ko: '네임스페이스 {namespace}에 MultiNIC의 Deployment가 없습니다',
  },
  giveNamespace: {
    en: 'give the namespace of the operator with --operator-namespace',
    ko: '오퍼레이터의 네임스페이스를 --operator-namespace로 지정하십시오',
  },
  businessClusters: {
    en: 'Business clusters',
    ko: '비즈니스 클러스터',
  },
  nodes: {
    en: 'Nodes',
    ko: '노드',
  },
  node: {
    en: 'Node {providerId}/{nodeName}',
    ko: '노드 {providerId}/{nodeName}',
  },
  port: {
    en: 'Port {value}',
    ko: '포트 {value}',
  },
  planOf: {
    en: 'Plan of {config}',
    ko: '{config}의 계획',
  },
  forbidden: {
    en: 'no access (403)',
    ko: '접근 권한이 없습니다(403)',
  },
  noAnswerWithin: {
    en: 'did not answer within {time}',
    ko: '{time} 안에 응답하지 않았습니다',
  },
  checkReachable: {
    en: 'check the connection to the source ({place}); to wait longer, give --request-timeout',
    ko: '소스({place})와의 연결을 확인하십시오. 더 오래 기다리려면 --request-timeout을 지정하십시오',
  },
  answered: {
    en: 'the answer is status {status}: {text}',
    ko: '응답 상태가 {status}입니다: {text}',
  },
  invalidAnswer: {
    en: 'the answer is not that of a Kubernetes API server: {text}',
    ko: 'Kubernetes API 서버의 응답이 아닙니다: {text}',
  },
  noConnection: {
    en: 'the API server does not answer: {text}',
    ko: 'API 서버가 응답하지 않습니다: {text}',
  },
  unauthorized: {
    en: 'the credentials are not accepted (401)',
    ko: '자격 증명이 거부되었습니다(401)',
  },
  logInAgain: {
    en: 'log in to the cluster again',
    ko: '클러스터에 다시 로그인하십시오',
  },
  kindNotServed: {
    en: 'the cluster does not serve this kind (404)',
    ko: '클러스터가 이 리소스 종류를 제공하지 않습니다(404)',
  },
  checkContext: {
    en: 'check the context with --context; if it is right, install the CRDs of MultiNIC',
    ko: '--context의 context를 확인하십시오. 맞으면 MultiNIC의 CRD를 설치하십시오',
  },
  noSuchKubeconfig: {
    en: 'the kubeconfig {kubeconfig} does not exist',
    ko: 'kubeconfig {kubeconfig} 파일이 없습니다',
  },
  noCurrentContext: {
    en: 'the kubeconfig {kubeconfig} has no current context',
    ko: 'kubeconfig {kubeconfig}에 현재 context가 없습니다',
  },
  administratorRuns: {
    en: 'ask an administrator of the cluster to run: {command}',
    ko: '클러스터 관리자에게 다음 명령의 실행을 요청하십시오: {command}',
  },
  equalUserNames: {
    en: 'log in to the cluster again. Equal user names may be the cause: kubectl uses the first user named {users} in {kubeconfig} for several clusters; give a kubeconfig per cluster with --kubeconfig and --business-kubeconfig PROVIDER=FILE',
    ko: '클러스터에 다시 로그인하십시오. 같은 사용자 이름이 원인일 수 있습니다. kubectl은 {kubeconfig}에서 이름이 {users}인 첫 사용자를 여러 클러스터에 사용합니다. --kubeconfig와 --business-kubeconfig PROVIDER=FILE로 클러스터별 kubeconfig를 지정하십시오',
  },
  logIn: {
    en: 'log in to the cluster with its own tool, or give --kubeconfig PATH or --context NAME',
    ko: '클러스터의 자체 도구로 로그인하거나 --kubeconfig PATH 또는 --context NAME을 지정하십시오',
  },
  checkApiServer: {
    en: 'check that the API server is reachable, and try again',
    ko: 'API 서버에 연결할 수 있는지 확인하고 다시 시도하십시오',
  },
  waitForLeader: {
    en: 'wait until a replica leads (15 s), and try again',
    ko: '리더가 정해질 때까지(15초) 기다린 뒤 다시 시도하십시오',
  },
  wrongServer: {
    en: 'another server or a proxy answers at this address: check --inventory and the proxy settings',
    ko: '이 주소에서 다른 서버나 프록시가 응답합니다. --inventory와 프록시 설정을 확인하십시오',
  },
  findUnreadCloud: {
    en: 'find the OpenstackConfig whose cloud cannot be read with: kubectl multinic doctor; then try again',
    ko: '클라우드를 조회하지 못하는 OpenstackConfig를 찾아 해결한 뒤 다시 시도하십시오: kubectl multinic doctor',
  },
  checkViola: {
    en: 'check the connection of Viola to the business cluster with: kubectl multinic doctor; then try again',
    ko: 'Viola와 비즈니스 클러스터의 연결을 확인한 뒤 다시 시도하십시오: kubectl multinic doctor',
  },
  seeLog: {
    en: "see the operator's log, and try again",
    ko: '오퍼레이터의 로그를 확인하고 다시 시도하십시오',
  },
  upgradeOperator: {
    en: 'upgrade the operator, see docs/guides/upgrade.md',
    ko: '오퍼레이터를 업그레이드하십시오(docs/guides/upgrade.ko.md 참고)',
  },
  otherToken: {
    en: 'use a token with the verb for this route: --token-file FILE',
    ko: '이 경로의 verb가 있는 토큰을 지정하십시오: --token-file FILE',
  },
  olderOperator: {
    en: 'this operator is older and lacks the route',
    ko: '오퍼레이터가 이전 버전이어서 이 경로가 없습니다',
  },
  notAllowed: {
    en: 'not allowed ({status}): {message}',
    ko: '권한이 없습니다({status}): {message}',
  },
  history: {
    en: 'NIC history',
    ko: 'NIC 이력',
  },
  inventory: {
    en: 'Inventory',
    ko: '인벤토리',
  },
} as const satisfies Readonly<Record<string, Wording>>;
