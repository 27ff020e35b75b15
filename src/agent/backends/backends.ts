import type { Family } from '../../api/job.ts';
import type { Backend } from '../planning/backend.ts';
import { ifcfg } from './ifcfg.ts';
import { keyfile } from './keyfile.ts';
import { netplan } from './netplan.ts';
import { networkd } from './networkd.ts';

/** Network managers the agent can configure. */
export const backends: Readonly<Record<Family, Backend>> = {
  netplan,
  networkd,
  keyfile,
  ifcfg,
};
