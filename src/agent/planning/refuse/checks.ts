import { caught, claimed, pathTaken, unread } from './file.ts';
import { foreignAddress, foreignRoute, lower, member } from './in-use.ts';
import { defaultRoute, leased, nodeAddress, strangeName } from './node.ts';
import { mtu, nameTaken, priorityTaken, tableTaken } from './place.ts';
import type { Check, TouchedNic, WantedNic } from './refusal.ts';
import { addressTaken, coversNode, overlapsForeign, overlapsPrimary } from './subnet.ts';

/** Why a link must never be touched, whatever is asked for: it carries the node itself. The carrier does not count. */
export const untouchable: readonly Check<TouchedNic>[] = [
  strangeName,
  leased,
  defaultRoute,
  nodeAddress,
];

/** Why a link must not be changed: something on it is not ours and would suffer. */
export const inUse: readonly Check<TouchedNic>[] = [member, lower, foreignAddress, foreignRoute];

/** Why a NIC cannot be what an entry asks for. */
export const unattainable: readonly Check<WantedNic>[] = [
  mtu,
  tableTaken,
  priorityTaken,
  addressTaken,
  overlapsPrimary,
  coversNode,
  overlapsForeign,
  pathTaken,
  claimed,
  unread,
  caught,
  nameTaken,
];
