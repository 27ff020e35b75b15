import { filled } from '../../api/texts/text.ts';
import { whyTexts } from '../../api/texts/why.ts';
import { isPlugged } from '../../plan/observation.ts';
import { nextFor } from '../next-steps.ts';
import { type Subject, serverName } from '../subject.ts';
import { followed, since } from '../wording.ts';
import { formerNicNext, formerNicText } from './former-nic.ts';
import { fail, type Outcome, ok, skipped, warn } from './outcome.ts';

/** Explains whether Neutron has the port and Nova plugged the port. */
export function neutron(subject: Subject): Outcome {
  const { facts, port, nic } = subject;
  if (facts.port.state === 'unread') return skipped(facts.port);
  if (!port) {
    const evidence = followed(whyTexts.portNotFound, formerNicText(subject));
    return fail('PortNotFound', evidence, formerNicNext(subject) ?? nextFor('PortNotFound', {}));
  }
  const { status, deviceId, deviceOwner, readAt } = port;
  const read = since(readAt, facts.now, whyTexts.read);
  if (deviceId === '') {
    const attached = filled(whyTexts.notAttached, { status, read });
    const evidence = followed(attached, formerNicText(subject));
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
