import { acceptInterfaces, type Rejection } from '../api/accept-interface.ts';
import type { RequestInterface } from '../api/job.ts';
import { interfaceSpec } from '../api/multinicnodeconfig.ts';
import { indexOfName } from '../api/names.ts';
import type { NodeConfig } from './node-config.ts';

const anyFields = interfaceSpec.partial();

type AnyFields = ReturnType<typeof anyFields.parse>;

/** One entry of `spec.interfaces`: what people see of it, and whether it can be used. */
export interface Entry {
  readonly position: number;
  /** Lower case; undefined when the entry has none that can be read. */
  readonly mac: string | undefined;
  readonly index: number | undefined;
  /** Fields as they stand in the spec, as far as they can be read. */
  readonly shown: AnyFields;
  /** `interfaces[2].address: …`; undefined when the entry can be used. */
  readonly rejection: string | undefined;
}

export interface AcceptedSpec {
  /** Undefined when the spec cannot be read. */
  readonly entries: readonly Entry[] | undefined;
  /** What the agent is asked for, by index. */
  readonly interfaces: readonly RequestInterface[];
  /** MACs of refused entries: their NICs stay as they are. */
  readonly keep: readonly string[];
  /** Why no agent may run at all: nobody can tell which NICs are to stay. */
  readonly blocked: string | undefined;
}

/** Reads the spec of an object; one of no known form has no entries and blocks everything. */
export function acceptSpec({ spec, flaw }: NodeConfig): AcceptedSpec {
  if (!spec) return { entries: undefined, interfaces: [], keep: [], blocked: flaw };
  const accepted = acceptEntries(spec.interfaces ?? []);
  // Whoever wrote it did not do so through Viola, which can neither show nor change it.
  return spec.nodeName?.trim()
    ? accepted
    : { ...accepted, blocked: 'spec.nodeName: names no node' };
}

/** Decides entry by entry what can be configured; a refused entry is never treated as removed. */
export function acceptEntries(raw: readonly unknown[]): AcceptedSpec {
  const parsed = raw.map((entry, position) => ({
    position,
    result: interfaceSpec.safeParse(entry),
  }));
  const readable = parsed.flatMap(({ position, result }) =>
    result.success ? [{ position, spec: result.data }] : [],
  );
  const acceptance = acceptInterfaces(readable.map(({ spec }) => spec));
  // acceptInterfaces counts readable entries only; their positions in the spec are what people look for.
  const at = (position: number): number => readable[position]?.position ?? position;
  const rejections = new Map<number, string>();
  for (const { position, result } of parsed) {
    const [issue] = result.error?.issues ?? [];
    if (issue) {
      rejections.set(
        position,
        text({ position, field: issue.path.join('.'), message: issue.message }),
      );
    }
  }
  for (const rejection of acceptance.rejected) {
    const position = at(rejection.position);
    rejections.set(position, text({ ...rejection, position }));
  }
  const entries = raw.map((entry, position) => entryOf(entry, position, rejections.get(position)));
  const refused = entries.filter(({ rejection }) => rejection !== undefined);
  const interfaces = acceptance.accepted.map(({ nic }) => nic);
  const requested = new Set(interfaces.map(({ mac }) => mac));
  const kept = refused.flatMap(({ mac }) => (mac && !requested.has(mac) ? [mac] : []));
  return {
    entries,
    interfaces: interfaces.toSorted((a, b) => a.index - b.index),
    keep: [...new Set(kept)].toSorted(),
    blocked: refused.find(({ mac }) => mac === undefined)?.rejection,
  };
}

function text({ position, field, message }: Rejection): string {
  return `interfaces[${position}]${field === '' ? '' : `.${field}`}: ${message}`;
}

function entryOf(raw: unknown, position: number, rejection: string | undefined): Entry {
  const shown = readableFields(raw);
  return {
    position,
    mac: shown.macAddress?.toLowerCase(),
    index: shown.name === undefined ? (shown.id ?? 0) : indexOfName(shown.name),
    shown,
    rejection,
  };
}

/** The fields that are of their type; the others are left out. */
function readableFields(raw: unknown): AnyFields {
  if (raw === null || typeof raw !== 'object') return {};
  const usable = Object.entries(raw as Readonly<Record<string, unknown>>).filter(
    ([key, value]) => anyFields.safeParse({ [key]: value }).success,
  );
  return anyFields.parse(Object.fromEntries(usable));
}
