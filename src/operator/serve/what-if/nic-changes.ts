import type { InterfaceSpec } from '../../../api/multinicnodeconfig.ts';
import type { PlanView } from '../../../api/read-http.ts';
import { isSameJson } from '../../../api/same-json.ts';
import type { NodePlan } from '../../../plan/plan.ts';
import { compareText } from '../../../plan/view.ts';

type NicChange = PlanView['nodes'][number]['nics'][number];

/** Returns the differing NICs between object and plan, by name; a removal comes before an addition. */
export function nicChanges(
  { interfaces, removals }: Pick<NodePlan, 'interfaces' | 'removals'>,
  before: readonly InterfaceSpec[],
): NicChange[] {
  const planned = new Map(interfaces.map((nic) => [keyOf(nic), nic]));
  const existing = new Map(before.map((nic) => [keyOf(nic), nic]));
  const removed = new Map(removals.confirmed.map((removal) => [keyOf(removal), removal]));
  const gone = before
    .filter((nic) => !planned.has(keyOf(nic)))
    .map((nic): NicChange => {
      const removal = removed.get(keyOf(nic));
      const why = removal && { cause: removal.cause, basis: removal.basis };
      return { ...about(nic), change: 'remove', ...why };
    });
  const others = interfaces.flatMap((nic) => changeOf(existing.get(keyOf(nic)), nic) ?? []);
  return [...gone, ...others].toSorted((a, b) => compareText(a.name, b.name));
}

/** Returns name and MAC address: the same name with a new MAC address is a new NIC. */
function keyOf({ name, id, macAddress }: NicId): string {
  return `${nameOf({ name, id })} ${macAddress.toLowerCase()}`;
}

interface NicId {
  readonly name?: string | undefined;
  readonly id?: number | undefined;
  readonly macAddress: string;
}

function nameOf({ name, id = 0 }: Pick<NicId, 'name' | 'id'>): string {
  return name ?? `multinic${id}`;
}

function about(nic: InterfaceSpec): Pick<NicChange, 'name' | 'portId' | 'macAddress'> {
  const { portId, macAddress } = nic;
  return { name: nameOf(nic), macAddress, ...(portId ? { portId } : {}) };
}

function changeOf(before: InterfaceSpec | undefined, after: InterfaceSpec): NicChange | undefined {
  if (before === undefined) return { ...about(after), change: 'add', after: { ...after } };
  const [was, will]: Record<string, unknown>[] = [{ ...before }, { ...after }];
  const names = [...new Set([...Object.keys(was ?? {}), ...Object.keys(will ?? {})])];
  const differing = names.filter((name) => !isSameJson(was?.[name], will?.[name]));
  if (differing.length === 0) return undefined;
  const only = (fields: Record<string, unknown> = {}) =>
    Object.fromEntries(differing.flatMap((name) => (name in fields ? [[name, fields[name]]] : [])));
  return { ...about(after), change: 'change', before: only(was), after: only(will) };
}
