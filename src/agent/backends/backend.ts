import type { Family } from '../../api/job.ts';
import type { DesiredNic } from '../planning/desired.ts';
import type { ConfigFile, HostFile, OwnFile } from '../snapshot.ts';

/** Files of one kind in one directory, as the host knows it. */
export interface Place {
  readonly directory: string;
  readonly suffix: string;
  /** Whether a file here keeps those of its name in later places from being read; an empty one masks them. */
  readonly hides?: true;
  /** Whether files `NAME.d/*.conf` of this and the other places of the suffix add to a file NAME (systemd.network(5)). */
  readonly dropIns?: true;
}

export interface RenderedFile {
  readonly path: string;
  readonly text: string;
  /** Permission bits: managers refuse, or warn about, what others can read; some cannot read what is root's alone. */
  readonly mode: number;
}

/** The files that make one NIC at the next boot, in the order in which they are written. */
export interface RenderedNic {
  /** What names the NIC and sets it up: alone, without `main`, they give it no address. */
  readonly companions: readonly RenderedFile[];
  /** Holds the addresses; its rename is the commit. */
  readonly main: RenderedFile;
  /**
   * All that a boot goes by once more under other names, of a family that has more than one file of that: where both are there
   * the manager goes by these. The last one makes them count.
   */
  readonly interim?: readonly RenderedFile[];
}

/** How one family of hosts keeps a NIC's configuration over a reboot. Pure: files are read and written by others. */
export interface Backend {
  readonly name: Family;
  /** Where its files are, and where files of others may be too. */
  readonly places: readonly Place[];
  /** Where its files are translated to for the service that configures NICs; absent where that reads them itself. */
  readonly generated?: Place;
  /** How names of udev rules begin that its files are translated to and that name NICs; absent where `.link` files name them. */
  readonly namingRules?: string;
  /** What a file of `places` is about, and whether it is one of ours. */
  read(file: HostFile): Promise<ConfigFile>;
  /** What a file of `generated` has from one of ours, of any generation; undefined when it is from others. */
  held(file: HostFile): OwnFile | undefined;
  /** Path of the file of the NIC with this index that holds its addresses. */
  path(index: number): string;
  render(nic: DesiredNic): RenderedNic;
  /** Throws when the text of a rendered file, read back, does not say what the NIC shall be. */
  validate(file: Pick<RenderedFile, 'path' | 'text'>, nic: DesiredNic): void;
}
