import { cp, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { inImage } from '../../entry-point.ts';
import { billOfMaterials, type Component, componentsIn } from '../bill-of-materials.ts';
import { putFile, putText } from '../contents.ts';
import type { Architecture } from '../debian.ts';
import { sbomPath } from '../folders.ts';
import type { BuiltImage } from '../images.ts';
import type { CommandFolder } from './command-archive.ts';

export interface CommandFolderOptions {
  readonly architecture: Architecture;
  readonly version: string;
  /** The built image `multinic-controllers`, whose Node.js and bundle the command line runs. */
  readonly controllers: BuiltImage;
  /** Folder to write; an existing one is replaced. */
  readonly folder: string;
}

/** Lays out the command line from the files of the controllers' image, without the image's Debian libraries. */
export async function layOutCommand(options: CommandFolderOptions): Promise<CommandFolder> {
  const { architecture, version, controllers, folder } = options;
  await rm(folder, { recursive: true, force: true });
  const [base = '', app = ''] = controllers.folders;
  const place = '/lib/multinic';
  await putFile(folder, `${place}/node`, join(base, inImage.node));
  const licences = 'usr/share/licenses';
  for (const from of [base, app]) {
    await cp(join(from, licences), join(folder, place, 'licenses'), { recursive: true });
  }
  await cp(join(app, 'app'), join(folder, place), { recursive: true });
  const components = componentsIn(await readFile(join(app, sbomPath), 'utf8'));
  const sbom = billOfMaterials('multinic', version, components.filter(isInCommand));
  await putText(folder, `${place}/multinic.spdx.json`, sbom);
  return { architecture, folder, sbom };
}

function isInCommand({ purl }: Component): boolean {
  return !purl.startsWith('pkg:deb/');
}
