import { stringify } from 'yaml';
import type { Platform } from './command-archive.ts';

/** An archive from which krew can install the plugin. */
export interface PluginArchive {
  readonly platform: Platform;
  readonly file: string;
  readonly sha256: string;
}

interface ManifestOptions {
  readonly version: string;
  readonly archives: readonly PluginArchive[];
  /** Address of the archives; undefined: krew installs with `--archive` only. */
  readonly url?: string | undefined;
}

/** Never resolves (RFC 6761): krew requires an address in each manifest. */
const nowhere = 'https://not-published.invalid';

/**
 * Returns the krew manifest for the plugin. Windows is missing: `bin/kubectl-multinic` is a shell script. The archive `any` is for macOS
 * only, because krew refuses two archives for a platform.
 */
export function krewManifest({ version, archives, url = nowhere }: ManifestOptions): string {
  const name = `multinic-${version}`;
  const files = [
    ...['bin', 'lib'].map((folder) => ({ from: `${name}/${folder}/*`, to: folder })),
    { from: `${name}/LICENSE`, to: '.' },
  ];
  const platforms = archives.map(({ platform, file, sha256 }) => ({
    selector: { matchLabels: labelsOf(platform) },
    uri: `${url}/${file}`,
    sha256,
    files,
    bin: 'bin/kubectl-multinic',
  }));
  const manifest = {
    apiVersion: 'krew.googlecontainertools.github.com/v1alpha2',
    kind: 'Plugin',
    metadata: { name: 'multinic' },
    spec: { version: `v${version}`, shortDescription, description, caveats, platforms },
  };
  return stringify(manifest, { aliasDuplicateObjects: false, lineWidth: 0 });
}

function labelsOf(platform: Platform) {
  if (platform === 'any') return { os: 'darwin' };
  return { os: 'linux', arch: platform.slice('linux-'.length) };
}

const shortDescription = 'Shows and explains NICs made from OpenStack ports';

const description = `Shows the NICs that MultiNIC makes from OpenStack ports on Kubernetes nodes.
Names the first thing that is wrong with a port, from Neutron to boot files.
Plans the next sync, and writes an archive for support.
`;

/** krew links only the program: this file calls it, so that it outlives each upgrade. */
const caveats = `On macOS the plugin needs Node.js 24 or later on PATH.
To complete words after "kubectl multinic" (kubectl 1.26 or later):
  printf '#!/bin/sh\\nexec kubectl multinic completion kubectl -- "$@"\\n' >"$HOME/.krew/bin/kubectl_complete-multinic"
  chmod +x "$HOME/.krew/bin/kubectl_complete-multinic"
`;
