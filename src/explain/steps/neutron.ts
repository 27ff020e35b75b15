import { filled } from '../../api/texts/text.ts';
import { whyTexts } from '../../api/texts/why.ts';
import { isPlugged } from '../../plan/observation.ts';
import { nextFor } from '../next-steps.ts';
import { type Subject, serverName } from '../subject.ts';
import { since } from '../wording.ts';
import { fail, type Outcome, ok, skipped, warn } from './outcome.ts';

/** Explains whether Neutron has the port and Nova plugged the port. */
export function neutron({ facts, port, nic }: Subject): Outcome {
  if (facts.port.state === 'unread') return skipped(facts.port);
  if (!port) {
    const evidence = whyTexts.portNotFound;
    return fail('PortNotFound', evidence, nextFor('PortNotFound', {}));
  }
  const { status, deviceId, deviceOwner, readAt } = port;
  const read = since(readAt, facts.now, whyTexts.read);
  if (deviceId === '') {
    const evidence = filled(whyTexts.notAttached, { status, read });
    return fail('PortNotAttached', evidence, nextFor('PortNotAttached', { port }));
  }
  if (!isPlugged({ deviceOwner })) {
    const evidence = filled(whyTexts.notPlugged, {
      deviceOwner,
      serverName: serverName(port),
      read,
    });
    const next = nextFor('PortNotPlugged', { port });
    // An existing NIC stays.
    return nic ? warn('PortNotPlugged', evidence, next) : fail('PortNotPlugged', evidence, next);
  }
  return ok(filled(whyTexts.attached, { status, deviceId, read }));
}
