import { interfaceName } from '../../api/names.ts';
import type { Backend, Place, RenderedFile } from '../planning/backend.ts';
import type { DesiredNic } from '../planning/desired.ts';
import { lastingSettings, settingName } from '../planning/settings.ts';
import type { ConfigFile, HostFile } from '../snapshot.ts';
import { macInHead, nicHead } from './nic-head.ts';

/**
 * Folder read by systemd-sysctl at boot, and by udev for each new NIC after naming (sysctl.d(5), 99-systemd.rules).
 * Files in `/run` and `/usr/lib` are never about managed NICs.
 */
export const sysctlPlace: Place = { directory: '/etc/sysctl.d', suffix: '.conf' };

/** Extends the backend for hosts persisting kernel settings across a boot; the same for every network manager. */
export function withSysctlFile(backend: Backend): Backend {
  return {
    ...backend,
    places: [...backend.places, sysctlPlace],
    read: (file) => (isHere(file) ? readSysctlFile(file) : backend.read(file)),
    render(nic) {
      const { companions, ...rest } = backend.render(nic);
      return { ...rest, companions: [...companions, renderSysctlFile(nic)] };
    },
    validate(file, nic) {
      if (!isHere(file)) backend.validate(file, nic);
      else if (file.text !== renderSysctlFile(nic).text) {
        throw new Error(`generated ${file.path} does not match the requested settings`);
      }
    },
  };
}

function isHere({ path }: Pick<HostFile, 'path'>): boolean {
  return path.startsWith(`${sysctlPlace.directory}/`);
}

function renderSysctlFile({ index, name, mac }: DesiredNic): RenderedFile {
  const lines = Object.entries(lastingSettings).map(
    ([key, value]) => `${settingName(name, key)} = ${value}`,
  );
  return {
    path: `${sysctlPlace.directory}/9${index}-${interfaceName(index)}.conf`,
    text: [nicHead(mac), ...lines, ''].join('\n'),
    mode: 0o644,
  };
}

const ownPath = /^\/etc\/sysctl\.d\/9(\d)-multinic\1\.conf$/;

async function readSysctlFile(file: HostFile): Promise<ConfigFile> {
  const [, index] = ownPath.exec(file.path) ?? [];
  if (index === undefined) return foreignFile(file);
  const mac = macInHead(file.text);
  if (mac === undefined) return { ...file, macs: [] };
  return { ...file, own: { mac, index: Number(index), addresses: [] }, macs: [mac] };
}

/** Settings give a NIC no address, so an unreadable file, such as a link out of the folder, does not matter. */
function foreignFile({ path, text, mode }: HostFile): ConfigFile {
  return { path, text, mode, macs: [] };
}
