import * as z from 'zod';
import type { Clock } from '../../src/time/clock.ts';
import type { OpenstackUser } from '../openstack/openstack-http.ts';

/** A NIC as it was plugged: the name it got first, which the guest may change, and the port's MAC. */
interface PluggedNic {
  readonly nic: string;
  readonly mac: string;
}

/** The machine of one server, as far as a hypervisor can reach into it. */
export interface Machine {
  plug(nic: PluggedNic): Promise<void>;
  unplug(nic: PluggedNic): Promise<void>;
}

export interface HypervisorOptions {
  /** Whose servers they are; reads `os-interface`. */
  readonly user: OpenstackUser;
  /** Machines by server id. */
  readonly machines: ReadonlyMap<string, Machine>;
  readonly clock: Clock;
  /** How often each server is looked at. */
  readonly pollMs?: number;
  /** Returns a mark that is new after every attach and detach; without a new mark, servers are read every 5 s. Missing: in every poll. */
  readonly interfacesMark?: () => Promise<number>;
  /** How long a NIC that Nova has lets the machine wait for it, and one that Nova has no more stays. */
  readonly delayMs?: Partial<Readonly<Record<PausedCall, number>>>;
  readonly onChange?: (change: HypervisorChange) => void;
  readonly onError?: (error: unknown) => void;
}

interface HypervisorChange extends PluggedNic {
  readonly what: 'plugged' | 'unplugged';
  readonly serverId: string;
}

export type PausedCall = 'plug' | 'unplug';

/**
 * What a real hypervisor does and Nova's fake driver does not: when a port is attached to a server, a NIC with its MAC
 * appears in the machine, and goes when it is detached. Nobody tells it; it reads what Nova says.
 */
export interface Hypervisor extends AsyncDisposable {
  /** Resolves when every server was looked at once: what is attached from then on gets plugged. */
  readonly watching: Promise<void>;
  /** Keeps NICs from appearing, or from going, until it is released: the product may react first. */
  hold(what: PausedCall): void;
  release(what: PausedCall): void;
  /** NICs of a server that are plugged now. */
  plugged(serverId: string): readonly PluggedNic[];
}

const attachments = z.object({
  interfaceAttachments: z.array(z.object({ port_id: z.string(), mac_addr: z.string() })),
});

/** One server, followed. */
interface Guest {
  readonly serverId: string;
  readonly machine: Machine;
  /** MACs of the first look. */
  atBoot: readonly string[] | undefined;
  readonly plugged: Map<string, PluggedNic>;
  /** Monotonic time at which Nova and the machine were first seen to differ, by MAC. */
  readonly since: Map<string, number>;
}

/** Starts a hypervisor; NICs that a server has at the first look were there when its machine booted, and are left alone. */
export function startHypervisor(options: HypervisorOptions): Hypervisor {
  const { clock, pollMs = 200, delayMs = {}, onError = () => undefined } = options;
  const stop = new AbortController();
  const held = new Set<PausedCall>();
  const guests = new Map([...options.machines].map(([id, machine]) => [id, guestOf(id, machine)]));
  const pace = paceOf(options);
  const watching = Promise.withResolvers<void>();

  async function run(): Promise<void> {
    while (!stop.signal.aborted) {
      if (await pace.isDue([...guests.values()].some(isUnsettled))) {
        for (const guest of guests.values()) await follow(guest).catch(onError);
      }
      if ([...guests.values()].every((guest) => guest.atBoot !== undefined)) watching.resolve();
      await clock.sleep(pollMs, stop.signal).catch(() => undefined);
    }
  }

  async function follow(guest: Guest): Promise<void> {
    const wanted = await macsOf(options.user, guest.serverId);
    guest.atBoot ??= wanted;
    for (const mac of wanted) {
      const there = guest.atBoot.includes(mac) || guest.plugged.has(mac);
      if (there || !isDue(guest, 'plug', mac)) continue;
      const nic = { nic: freeName(guest.plugged), mac };
      await guest.machine.plug(nic);
      guest.plugged.set(mac, nic);
      report(guest, 'plugged', nic);
    }
    for (const nic of guest.plugged.values()) {
      if (wanted.includes(nic.mac) || !isDue(guest, 'unplug', nic.mac)) continue;
      await guest.machine.unplug(nic);
      guest.plugged.delete(nic.mac);
      report(guest, 'unplugged', nic);
    }
  }

  function isDue(guest: Guest, what: PausedCall, mac: string): boolean {
    const now = clock.monotonicMs();
    const since = guest.since.get(mac) ?? now;
    guest.since.set(mac, since);
    return !held.has(what) && now - since >= (delayMs[what] ?? 0);
  }

  function report(guest: Guest, what: HypervisorChange['what'], nic: PluggedNic): void {
    guest.since.delete(nic.mac);
    options.onChange?.({ what, serverId: guest.serverId, ...nic });
  }

  const running = run();
  return {
    watching: watching.promise,
    hold: (what) => void held.add(what),
    release: (what) => void held.delete(what),
    plugged: (serverId) => [...(guests.get(serverId)?.plugged.values() ?? [])],
    async [Symbol.asyncDispose]() {
      stop.abort(new Error('the hypervisor is stopped'));
      await running;
    },
  };
}

const restMs = 5_000;

/** Decides which polls read Nova: with Neutron's part and the database's a read takes 70 ms CPU. */
function paceOf({ clock, interfacesMark }: HypervisorOptions) {
  let last: number | undefined;
  let restsUntil = 0;
  return {
    async isDue(hasDifference: boolean): Promise<boolean> {
      const mark = await interfacesMark?.();
      const now = clock.monotonicMs();
      const isChanged = mark === undefined || mark !== last;
      if (!isChanged && !hasDifference && now < restsUntil) return false;
      last = mark;
      restsUntil = now + restMs;
      return true;
    },
  };
}

/** True until a first read, and while Nova and the machine differ. */
function isUnsettled({ atBoot, since }: Guest): boolean {
  return atBoot === undefined || since.size > 0;
}

function guestOf(serverId: string, machine: Machine): Guest {
  return { serverId, machine, atBoot: undefined, plugged: new Map(), since: new Map() };
}

/** MACs of a server in the order in which Nova lists them; none when it knows no such server (any more). */
async function macsOf(user: OpenstackUser, serverId: string): Promise<readonly string[]> {
  const { status, body } = await user.raw('compute', {
    path: `/servers/${serverId}/os-interface`,
  });
  if (status === 404) return [];
  if (status !== 200) throw new Error(`os-interface of ${serverId}: status ${status}`);
  return attachments.parse(body).interfaceAttachments.map(({ mac_addr }) => mac_addr);
}

/** Kernel name of a hot-plugged NIC: ens5, ens6, … as PCI slots would give it. */
function freeName(nics: ReadonlyMap<string, PluggedNic>): string {
  const used = new Set([...nics.values()].map(({ nic }) => nic));
  let slot = 5;
  while (used.has(`ens${slot}`)) slot += 1;
  return `ens${slot}`;
}
