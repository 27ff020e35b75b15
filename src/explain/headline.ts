import type { NicView, PortView } from '../api/read-http.ts';
import type { Wording } from '../api/texts/text.ts';
import type { Step } from './step.ts';
import { nicNameOf, nodeNameOf, type Subject, serverName } from './subject.ts';
import { same, say } from './wording.ts';

/** Returns port and answer in a single sentence. */
export function headlineOf(
  subject: Subject,
  steps: readonly Step[],
  answer: Step | undefined,
): Wording {
  const what = nameOf(subject);
  if (answer) return failedHeadline(what, answer, subject);
  const missing = steps.filter(({ result }) => result === 'skipped');
  const warning = steps.find(({ result }) => result === 'warn');
  const nic = standing(subject);
  const suffix = warning
    ? say(`; warning: ${warning.reason}`, `; 경고: ${warning.reason}`)
    : missing.length > 0
      ? say('; not everything could be checked', '; 확인하지 못한 항목이 있습니다')
      : say('', '');
  return say(`${what.en} ${nic.en}${suffix.en}`, `${what.ko}${nic.ko}${suffix.ko}`);
}

function failedHeadline(what: Wording, { name, reason = '' }: Step, subject: Subject): Wording {
  const { nic } = subject;
  const place = nodeNameOf(subject);
  if (reason === 'RemovalHeld' && place) {
    return say(
      `The NIC of ${lowerFirst(what.en)} stays on node ${place}: ${reason}`,
      `${what.ko}의 NIC가 노드 ${place}에 유지됩니다: ${reason}`,
    );
  }
  if (nic?.state === 'Configured') {
    return say(
      `${what.en} is configured as ${nic.name}, but step ${name} fails: ${reason}`,
      `${what.ko}의 NIC ${nic.name}가 설정되어 있지만 ${name} 단계가 실패했습니다: ${reason}`,
    );
  }
  return agentSteps.has(name)
    ? say(
        `The NIC of ${lowerFirst(what.en)} is not configured: ${reason}`,
        `${what.ko}의 NIC를 설정하지 못했습니다: ${reason}`,
      )
    : say(`${what.en} is not a NIC: ${reason}`, `${what.ko}는 NIC가 아닙니다: ${reason}`);
}

const agentSteps: ReadonlySet<string> = new Set(['Acceptance', 'Agent', 'Kernel', 'BootFiles']);

function lowerFirst(text: string): string {
  return text.slice(0, 1).toLowerCase() + text.slice(1);
}

function nameOf({ port, nic, node, facts }: Subject): Wording {
  if (port) return nameOfPort(port, nic);
  if (nic && node) {
    const text = `${node.nodeName}/${nic.name} (MAC ${nic.macAddress})`;
    return say(`NIC ${text}`, `NIC ${text}`);
  }
  return facts.port.state === 'unread'
    ? say('The port, which could not be read,', '조회하지 못한 포트')
    : say('The port, which is unknown,', '알 수 없는 포트');
}

function nameOfPort(port: PortView, nic: NicView | undefined): Wording {
  const { portId, macAddress, addresses, networkName = nic?.networkName } = port;
  const ip = addresses[0]?.ip;
  const parts = [
    same(`MAC ${macAddress}`),
    ...(ip ? [say(`address ${ip}`, `주소 ${ip}`)] : []),
    ...(networkName ? [say(`network ${networkName}`, `네트워크 ${networkName}`)] : []),
  ];
  const en = `Port ${portId} (${parts.map((part) => part.en).join(', ')})`;
  const ko = `포트 ${portId}(${parts.map((part) => part.ko).join(', ')})`;
  if (port.deviceId === '') return say(en, ko);
  return say(`${en} on server ${serverName(port)}`, `서버 ${serverName(port)}의 ${ko}`);
}

function standing(subject: Subject): Wording {
  const name = nicNameOf(subject);
  const node = nodeNameOf(subject);
  if (!name || !node) return say('could not be explained', '의 상태를 설명할 수 없습니다');
  return subject.nic?.state === 'Configured'
    ? say(
        `is the configured NIC ${name} on node ${node}`,
        `는 노드 ${node}의 설정된 NIC ${name}입니다`,
      )
    : say(`is NIC ${name} on node ${node}`, `는 노드 ${node}의 NIC ${name}입니다`);
}
