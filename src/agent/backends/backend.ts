import type { DesiredNic } from '../planning/desired.ts';
import type { ConfigFile, HostFile, OwnFile } from '../snapshot.ts';

export interface RenderedFile {
  readonly path: string;
  readonly text: string;
}

/** How one family of hosts keeps a NIC's configuration over a reboot. Pure: files are read and written by others. */
export interface Backend {
  readonly name: string;
  /** Directory of the files, as the host knows it. */
  readonly directory: string;
  readonly suffix: string;
  /** Directories that files of others may be in too. */
  readonly otherDirectories: readonly string[];
  /** Where the files are translated to for the service that configures NICs. */
  readonly generated: { readonly directory: string; readonly suffix: string };
  /** Why the host is of another family, by what it has; undefined when it is of this one. */
  missing(has: (path: string) => boolean): string | undefined;
  /** What a file of the directory is about, and whether it is one of ours. */
  read(file: HostFile): Promise<ConfigFile>;
  /** What a file of `generated` has from one of ours, of any generation; undefined when it is from others. */
  held(file: HostFile): OwnFile | undefined;
  /** Why files written here would have no effect on this host; undefined when they would. */
  unusable(files: readonly HostFile[]): string | undefined;
  /** Path of the file of the NIC with this index. */
  path(index: number): string;
  /** The file of a NIC that holds its addresses; its rename is the commit. */
  render(nic: DesiredNic): RenderedFile;
  /** Throws when the text, read back, does not say what the NIC shall be. */
  validate(text: string, nic: DesiredNic): void;
}
