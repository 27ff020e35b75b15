import { isPlugged } from '../../plan/observation.ts';
import { nextFor } from '../next-steps.ts';
import { type Subject, serverName } from '../subject.ts';
import { say, since } from '../wording.ts';
import { fail, type Outcome, ok, skipped, warn } from './outcome.ts';

/** Explains whether Neutron has the port and Nova plugged the port. */
export function neutron({ facts, port, nic }: Subject): Outcome {
  if (facts.port.state === 'unread') return skipped(facts.port);
  if (!port) {
    const evidence = say(
      'no account of an OpenstackConfig sees this port',
      '어떤 OpenstackConfig의 계정으로도 이 포트를 조회할 수 없습니다',
    );
    return fail('PortNotFound', evidence, nextFor('PortNotFound', {}));
  }
  const { status, deviceId, deviceOwner, readAt } = port;
  const read = since(readAt, facts.now, ['read', '조회']);
  if (deviceId === '') {
    const evidence = say(
      `the port is ${status} and attached to no server${read.en}`,
      `포트가 ${status}이며 서버에 연결되어 있지 않습니다${read.ko}`,
    );
    return fail('PortNotAttached', evidence, nextFor('PortNotAttached', { port }));
  }
  if (!isPlugged({ deviceOwner })) {
    const evidence = say(
      `its device_owner is "${deviceOwner}" and not compute:<zone>, so Nova did not plug it into server ${serverName(port)}${read.en}`,
      `device_owner가 "${deviceOwner}"이고 compute:<zone>이 아니므로 Nova가 서버 ${serverName(port)}에 연결한 포트가 아닙니다${read.ko}`,
    );
    const next = nextFor('PortNotPlugged', { port });
    // An existing NIC stays.
    return nic ? warn('PortNotPlugged', evidence, next) : fail('PortNotPlugged', evidence, next);
  }
  return ok(
    say(
      `the port is ${status} and attached to server ${deviceId}${read.en}`,
      `포트가 ${status}이며 서버 ${deviceId}에 연결되어 있습니다${read.ko}`,
    ),
  );
}
