import type { AuditEntry } from '../../../rig/apiserver/audit.ts';
import type { Hypervisor } from '../../../rig/hypervisor/hypervisor.ts';
import type { Tenant, WirePort } from '../../../rig/openstack/tenant.ts';
import type { Supervisor } from '../../../rig/parts/supervisor.ts';
import type { Places } from '../../fixtures/end-state.ts';
import type { KillPoint } from './kill-points.ts';

/** Where lives are lived, on stand-ins or on real parts: one server, one port, one OpenstackConfig. */
export interface Site extends AsyncDisposable {
  /** Every one of them can be made to die. */
  readonly parts: Supervisor;
  readonly agent: MortalAgent;
  readonly places: Places;
  readonly tenant: Tenant;
  readonly hypervisor: Hypervisor;
  readonly serverId: string;
  readonly port: WirePort;
  /** Calls the trigger endpoint until it answers; the value of the annotation. Missing: nobody may call it. */
  readonly askForLook?: () => Promise<string>;
  /** How long anything may take on a busy machine, and how often it is looked at. */
  /** Makes that a part which starts now comes to this moment, where not every start does. */
  readonly prepare: (point: KillPoint) => Promise<void>;
  readonly patience: { readonly timeout: number; readonly interval: number };
  /** Makes the OpenstackConfig, which is for ports that are older than it, too. */
  readonly applyConfig: () => Promise<void>;
  readonly deleteConfig: () => Promise<void>;
  /** What was asked of the business cluster so far, oldest first. */
  readonly audit: () => Promise<readonly Request[]>;
}

export type Request = Pick<AuditEntry, 'resource' | 'subresource' | 'name' | 'user' | 'status'> & {
  readonly verb: string;
};

export interface MortalAgent {
  /** The next agent that comes to this moment dies; a number is that of the line within its batch. */
  dieAt(moment: string | number): Promise<void>;
  /** Whether an agent came to where it was told to die. */
  hasDied(): Promise<boolean>;
}
