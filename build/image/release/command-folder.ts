import { cp, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import manifest from '../../../package.json' with { type: 'json' };
import { inImage } from '../../entry-point.ts';
import { billOfMaterials, type Component, componentsIn } from '../bill-of-materials.ts';
import { putFile, putText } from '../contents.ts';
import type { Architecture } from '../debian.ts';
import { sbomPath } from '../folders.ts';
import type { BuiltImage } from '../images.ts';
import type { CommandFolder } from './command-archive.ts';
import { nodeVersionCheck } from './node-version-check.ts';

export interface CommandFolderOptions {
  readonly architecture: Architecture;
  readonly version: string;
  /** The built image `multinic-controllers`, whose Node.js and bundle the command line runs. */
  readonly controllers: BuiltImage;
  /** Folder to write; an existing folder is replaced. */
  readonly folder: string;
}

/** Lays out the command line from the files of the controllers' image, without the image's Debian libraries. */
export async function layOutCommand({
  architecture,
  ...options
}: CommandFolderOptions): Promise<CommandFolder> {
  const { controllers, folder } = options;
  await rm(folder, { recursive: true, force: true });
  const [base = '', app = ''] = controllers.folders;
  await putFile(folder, `${place}/node`, join(base, inImage.node));
  const sbom = await putBundle(options, [base, app], isNotDebian);
  return { platform: `linux-${architecture}`, folder, sbom };
}

/** Lays out the command line without Node.js: the user's own Node.js runs the bundle, from the minimum version. */
export async function layOutPortableCommand(
  options: Omit<CommandFolderOptions, 'architecture'>,
): Promise<CommandFolder> {
  const { controllers, folder } = options;
  await rm(folder, { recursive: true, force: true });
  await putText(folder, `${place}/node-version.cjs`, nodeVersionCheck(manifest.engines.node));
  const sbom = await putBundle(options, [controllers.app], isPortable);
  return { platform: 'any', folder, sbom };
}

const place = '/lib/multinic';

/** Puts the bundle, the licences of `layers` and the SPDX document. Resolves to the document. */
async function putBundle(
  { version, controllers: { app }, folder }: Omit<CommandFolderOptions, 'architecture'>,
  layers: readonly string[],
  isTaken: (component: Component) => boolean,
): Promise<string> {
  for (const from of layers) {
    const licences = join(from, 'usr/share/licenses');
    await cp(licences, join(folder, place, 'licenses'), { recursive: true });
  }
  await cp(join(app, 'app'), join(folder, place), { recursive: true });
  const components = componentsIn(await readFile(join(app, sbomPath), 'utf8'));
  const sbom = billOfMaterials('multinic', version, components.filter(isTaken));
  await putText(folder, `${place}/multinic.spdx.json`, sbom);
  return sbom;
}

function isNotDebian({ purl }: Component): boolean {
  return !purl.startsWith('pkg:deb/');
}

function isPortable(component: Component): boolean {
  return isNotDebian(component) && component.name !== 'node';
}
