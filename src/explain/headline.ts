import type { NicView, PortView } from '../api/read-http.ts';
import { ownPortTexts } from '../api/texts/own-port.ts';
import { filled, type Wording } from '../api/texts/text.ts';
import { whyTexts } from '../api/texts/why.ts';
import type { Step } from './step.ts';
import { nicNameOf, nodeNameOf, type Subject, serverName } from './subject.ts';
import { joined, same } from './wording.ts';

/** Returns port and answer in a single sentence. */
export function headlineOf(
  subject: Subject,
  steps: readonly Step[],
  answer: Step | undefined,
): Wording {
  const what = nameOf(subject);
  if (answer) return failedHeadline(what, answer, subject);
  const intended = steps.find(({ result }) => result === 'info');
  if (intended) return filled(ownPortTexts.information, { what, reason: intended.reason ?? '' });
  const missing = steps.filter(({ result }) => result === 'skipped');
  const warning = steps.find(({ result }) => result === 'warn');
  const nic = standing(subject);
  const suffix = warning
    ? filled(whyTexts.warning, { reason: warning.reason ?? '' })
    : missing.length > 0
      ? whyTexts.notAllChecked
      : same('');
  return filled(whyTexts.sentence, { what, nic, suffix });
}

function failedHeadline(what: Wording, { name, reason = '' }: Step, subject: Subject): Wording {
  const { nic, facts } = subject;
  const place = nodeNameOf(subject);
  if (reason === 'RemovalHeld' && place) {
    return filled(whyTexts.nicStays, {
      port: { en: lowerFirst(what.en), ko: what.ko },
      place,
      reason,
    });
  }
  if (nic?.state === 'Configured') {
    return filled(whyTexts.configuredButFailing, { what, nic: nic.name, step: name, reason });
  }
  const port = { en: lowerFirst(what.en), ko: what.ko };
  if (agentSteps.has(name)) return filled(whyTexts.nicNotConfigured, { port, reason });
  // Without Viola's answer a planned NIC may work.
  const isUnread = name === 'Delivery' && facts.node.state === 'unread';
  return isUnread && nicNameOf(subject) !== undefined
    ? filled(whyTexts.nicUnread, { port, reason })
    : filled(whyTexts.notANic, { what, reason });
}

const agentSteps: ReadonlySet<string> = new Set(['Acceptance', 'Agent', 'Kernel', 'BootFiles']);

function lowerFirst(text: string): string {
  return text.slice(0, 1).toLowerCase() + text.slice(1);
}

function nameOf({ port, nic, node, facts }: Subject): Wording {
  if (port) return nameOfPort(port, nic);
  if (nic && node) {
    const text = `${node.nodeName}/${nic.name} (MAC ${nic.macAddress})`;
    return filled(whyTexts.nic, { text });
  }
  return facts.port.state === 'unread' ? whyTexts.portUnread : whyTexts.portUnknown;
}

function nameOfPort(port: PortView, nic: NicView | undefined): Wording {
  const { portId, macAddress, addresses, networkName = nic?.networkName } = port;
  const ip = addresses[0]?.ip;
  const parts = [
    same(`MAC ${macAddress}`),
    ...(ip ? [filled(whyTexts.address, { ip })] : []),
    ...(networkName ? [filled(whyTexts.network, { networkName })] : []),
  ];
  const known = joined(parts, ', ');
  const name = filled(whyTexts.portName, { portId, known });
  if (port.deviceId === '') return name;
  return filled(whyTexts.portOnServer, { name, serverName: serverName(port) });
}

function standing(subject: Subject): Wording {
  const name = nicNameOf(subject);
  const node = nodeNameOf(subject);
  if (!name || !node) return whyTexts.notExplained;
  const state = subject.nic?.state;
  if (state === 'Observed') return filled(whyTexts.isObservedNic, { name, node });
  return state === 'Configured'
    ? filled(whyTexts.isConfiguredNic, { name, node })
    : filled(whyTexts.isNic, { name, node });
}
