import type { ScreenAnswer } from '../../api/dashboard/screens.ts';
import type { InventoryChange } from '../../api/inventory-http.ts';
import type { NicView, PortView } from '../../api/read-http.ts';
import { dashboardTexts } from '../../api/texts/dashboard-screens.ts';
import { historyTexts } from '../../api/texts/history.ts';
import { filled } from '../../api/texts/text.ts';
import { ofNic } from '../../explain/nic-code.ts';
import { ofMessage, same } from '../../explain/wording.ts';
import { changedFields } from '../../session/facts/history-facts.ts';
import type { NodeEvent } from '../../session/facts/node-events.ts';
import { configOf } from './history.ts';

type Entry = ScreenAnswer<'nic'>['timeline'][number];

/** Most entries. */
const mostEntries = 100;

/** Facts about a NIC's past; undefined: no such object, or unread. */
interface Past {
  readonly port: PortView | undefined;
  readonly nic: NicView | undefined;
  readonly changes: readonly InventoryChange[];
  /** Events about the node. */
  readonly events: readonly NodeEvent[];
}

/** Returns the timeline, newest first. */
export function timelineOf({ port, nic, changes, events }: Past): Entry[] {
  const entries = [
    ...(port ? ofPort(port) : []),
    ...changes.map(ofChange),
    ...events.map(ofEvent),
    ...(nic ? ofNicView(nic) : []),
  ];
  return entries.toSorted((a, b) => Date.parse(b.at) - Date.parse(a.at)).slice(0, mostEntries);
}

function ofPort({ portId, createdAt, delivery }: PortView): Entry[] {
  const created = createdAt && {
    at: createdAt,
    kind: 'portCreated' as const,
    text: filled(dashboardTexts.portCreated, { portId }),
  };
  return [...(created ? [created] : []), ...(delivery ? [ofDelivery(delivery)] : [])];
}

function ofDelivery({ ok, at, reason, message = '' }: NonNullable<PortView['delivery']>): Entry {
  const text = ok
    ? dashboardTexts.delivered
    : filled(dashboardTexts.notDelivered, { message: message || (reason ?? '') });
  return { at, kind: 'delivered', reason, text };
}

const kinds = {
  added: 'added',
  changed: 'changed',
  removed: 'removed',
  'port-replaced': 'portReplaced',
} as const;

function ofChange(change: InventoryChange): Entry {
  return { at: change.at, kind: kinds[change.change], text: textOf(change) };
}

function textOf(change: InventoryChange): Entry['text'] {
  const { name, portId, basis, openstackConfig } = change;
  const about = { name, config: configOf(change), generation: openstackConfig.generation };
  if (change.change === 'added') return filled(dashboardTexts.nicAdded, about);
  if (change.change === 'port-replaced') {
    return filled(dashboardTexts.portReplaced, { ...about, portId });
  }
  if (change.change === 'removed') {
    return filled(dashboardTexts.nicRemoved, {
      ...about,
      basis: basis ?? historyTexts.basisUnknown,
    });
  }
  const fields = changedFields(change).map((field) => field.name);
  return filled(dashboardTexts.nicChanged, { ...about, fields: fields.join(', ') });
}

function ofEvent({ at, reason, message }: NodeEvent): Entry {
  return { at, kind: 'event', reason, text: ofMessage(reason, message) };
}

function ofNicView(nic: NicView): Entry[] {
  const { state, reason, changedAt, checkedAt } = nic;
  const words = ofNic(reason, nic);
  const message = words.en === '' ? '' : { en: `: ${words.en}`, ko: `: ${words.ko}` };
  const became = changedAt && {
    at: changedAt,
    kind: 'state' as const,
    reason: reason || undefined,
    text: filled(dashboardTexts.stateSince, { state, message: message || same('') }),
  };
  const checked = checkedAt && {
    at: checkedAt,
    kind: 'checked' as const,
    text: dashboardTexts.nicChecked,
  };
  return [...(became ? [became] : []), ...(checked ? [checked] : [])];
}
