import type { NicView, PortView } from '../../api/read-http.ts';
import { nextFor } from '../next-steps.ts';
import { say } from '../wording.ts';
import type { CheckWarning } from './check-warning.ts';

/** Compares Neutron's port status with the NIC's carrier; `status` undefined: not read. */
export function downButUp(nic: NicView, status: string | undefined): readonly CheckWarning[] {
  if (status !== 'DOWN' || nic.carrier !== true) return [];
  const evidence = say(
    `Neutron reports port ${nic.portId ?? nic.macAddress} DOWN, but the link of ${nic.name} has a carrier`,
    `Neutron은 포트 ${nic.portId ?? nic.macAddress}를 DOWN으로 보고하지만 ${nic.name}의 링크에는 캐리어가 있습니다`,
  );
  return [{ reason: 'PortDownButUp', evidence, next: nextFor('PortDownButUp', { nic }) }];
}

/** Finds a port in administrative state down. */
export function adminDown(port: PortView): readonly CheckWarning[] {
  if (port.adminStateUp !== false) return [];
  const evidence = say(
    `admin_state_up of port ${port.portId} is false`,
    `포트 ${port.portId}의 admin_state_up이 false입니다`,
  );
  return [{ reason: 'PortAdminDown', evidence, next: nextFor('PortAdminDown', { port }) }];
}
