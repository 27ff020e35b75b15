import type { Wording } from './text.ts';

/** Texts about ports outside the selected subnets, such as the port with the Node's InternalIP. */
export const ownPortTexts = {
  information: {
    en: '{what} is not a NIC, and nothing is wrong: {reason}',
    ko: '{what}는 NIC가 아니며 문제가 없습니다: {reason}',
  },
  ownPort: {
    en: 'the port has InternalIP {address} of Node {node}: MultiNIC leaves this port to the node',
    ko: '포트에 노드 {node}의 InternalIP {address}가 있습니다. MultiNIC은 이 포트를 노드에 맡깁니다',
  },
  outside: {
    en: '{evidence}; information only: the answer about the server',
    ko: '{evidence}; 서버에 대한 답이므로 참고 정보입니다',
  },
  ownNetwork: {
    en: 'this subnet also has the port with the InternalIP of the Node, so a selection would take the network of the node itself: attach a port in another subnet',
    ko: '이 서브넷에는 노드의 InternalIP를 가진 포트도 있어 선택하면 노드 자체의 네트워크를 가져갑니다. 다른 서브넷의 포트를 연결하십시오',
  },
  checkOwnNetwork: {
    en: 'check that the subnet is not the one of the InternalIP of the Node, then add it to spec.subnetIDs; --business-context {provider}=CONTEXT checks this and prints the command',
    ko: '서브넷이 노드의 InternalIP가 있는 서브넷이 아닌지 확인한 뒤 spec.subnetIDs에 추가하십시오. --business-context {provider}=CONTEXT를 지정하면 이를 확인하고 명령을 출력합니다',
  },
} as const satisfies Readonly<Record<string, Wording>>;
