import { join } from 'node:path';

/** What a guest is put together of: everything that two runs of QEMU must have in common for one to go on with the other. */
export interface Machine {
  /** Folder with its kernel and initrd. */
  readonly image: string;
  /** Disk that is read only in the guest, at /opt/multinic. */
  readonly program: string;
  /** NICs beside the node's own, by the PCI slots 5 to 0x1c. */
  readonly nics: ReadonlyMap<number, string>;
}

/** Name of what is in a PCI slot, as the guest calls a NIC there. */
export function nicOf(slot: number): string {
  return `ens${slot}`;
}

/** The node's own NIC: gateway 10.200.0.254, which answers. */
const primaryMac = '02:00:00:00:00:01';

/** How a NIC is plugged in, in the words of the monitor. */
export function nicDevice(slot: number, mac: string) {
  const id = nicOf(slot);
  return {
    netdev: { type: 'hubport', id: `${id}-port`, hubid: 1 },
    device: {
      driver: 'virtio-net-pci',
      id,
      netdev: `${id}-port`,
      mac,
      bus: 'pci.0',
      addr: `0x${slot.toString(16)}`,
      romfile: '',
    },
  };
}

/** Where a running guest is reached: all below its folder. */
export function placesIn(folder: string) {
  const at = (name: string) => join(folder, name);
  return {
    disk: at('disk.qcow2'),
    console: at('console'),
    monitor: at('monitor'),
    agent: at('agent'),
    trace: at('trace'),
  };
}

export function qemuArguments({ image, program, nics }: Machine, folder: string): string[] {
  const places = placesIn(folder);
  return [
    ['-machine', 'pc,usb=off,hpet=off', '-accel', 'tcg,thread=multi,tb-size=512'],
    // Node.js needs SSE 4.2 and popcnt; what is newer costs time to emulate.
    ['-cpu', 'qemu64,+ssse3,+sse4.1,+sse4.2,+popcnt,+rdrand', '-smp', '2', '-m', '768'],
    ['-nodefaults', '-no-user-config', '-display', 'none', '-vga', 'none'],
    // An orderly reboot of the guest ends QEMU, which is then started again: the one sign of it that cannot be missed.
    ['-no-reboot'],
    ['-kernel', join(image, 'vmlinuz'), '-initrd', join(image, 'initrd'), '-append', kernelLine],
    ['-serial', `file:${places.console}`, '-qmp', `unix:${places.monitor},server=on,wait=off`],
    // Nothing waits for this machine's disk: what the guest has synced is in this machine's memory, which QEMU's end leaves.
    ['-drive', `file=${places.disk},if=none,id=root,cache=unsafe,discard=unmap`],
    ['-device', 'virtio-blk-pci,drive=root,addr=2'],
    ['-drive', `file=${program},format=raw,if=none,id=program,readonly=on`],
    ['-device', 'virtio-blk-pci,drive=program,addr=4'],
    ['-object', 'rng-random,id=random,filename=/dev/urandom'],
    ['-device', 'virtio-rng-pci,rng=random,addr=0x1e', '-device', 'virtio-serial-pci,addr=0x1f'],
    port('agent', places.agent, 'org.qemu.guest_agent.0'),
    port('trace', places.trace, 'multinic.trace'),
    ['-netdev', 'user,id=node,restrict=on,net=10.200.0.0/16,host=10.200.0.254'],
    ['-device', `virtio-net-pci,netdev=node,mac=${primaryMac},addr=3,romfile=`],
    ...[...nics].map(([slot, mac]) => nicArguments(slot, mac)),
  ].flat();
}

/** A socket of this machine that is a file in the guest. */
function port(name: string, path: string, to: string): string[] {
  const socket = `socket,id=${name},path=${path},server=on,wait=off`;
  return ['-chardev', socket, '-device', `virtserialport,chardev=${name},name=${to}`];
}

/**
 * Less to say and less to guard against: both cost seconds of emulation. A busy machine emulates no timer that the kernel would
 * find good (`no_timer_check`), and a kernel that gives up shall end QEMU (`panic`).
 */
const kernelLine =
  'root=/dev/vda rw console=ttyS0 quiet mitigations=off audit=0 systemd.show_status=0 random.trust_cpu=on no_timer_check panic=-1';

function nicArguments(slot: number, mac: string): string[] {
  const { netdev, device } = nicDevice(slot, mac);
  const { driver, ...properties } = device;
  const said = Object.entries(properties).map(([key, value]) => `${key}=${value}`);
  const hub = `hubport,id=${netdev.id},hubid=${netdev.hubid}`;
  return ['-netdev', hub, '-device', [driver, ...said].join(',')];
}
