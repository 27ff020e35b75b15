import type { NicView, PortView } from '../../api/read-http.ts';
import { doctorTexts } from '../../api/texts/doctor.ts';
import { filled } from '../../api/texts/text.ts';
import { nextFor } from '../next-steps.ts';
import type { CheckWarning } from './check-warning.ts';

/** Compares Neutron's port status with the NIC's carrier; `status` undefined: not read. */
export function downButUp(nic: NicView, status: string | undefined): readonly CheckWarning[] {
  if (status !== 'DOWN' || nic.carrier !== true) return [];
  const evidence = filled(doctorTexts.downButUp, {
    port: nic.portId ?? nic.macAddress,
    nic: nic.name,
  });
  return [{ reason: 'PortDownButUp', evidence, next: nextFor('PortDownButUp', { nic }) }];
}

/** Finds a port in administrative state down. */
export function adminDown(port: PortView): readonly CheckWarning[] {
  if (port.adminStateUp !== false) return [];
  const evidence = filled(doctorTexts.adminDown, { portId: port.portId });
  return [{ reason: 'PortAdminDown', evidence, next: nextFor('PortAdminDown', { port }) }];
}
