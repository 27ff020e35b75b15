import type { Family } from '../../api/job.ts';
import type { ConfigFile, HostFile, OwnFile } from '../snapshot.ts';
import type { DesiredNic } from './desired.ts';

/** Files with a common suffix in one directory, as seen on the host. */
export interface Place {
  readonly directory: string;
  readonly suffix: string;
  /** True if a file here hides same-named files in later places; an empty file masks them. */
  readonly hides?: true;
  /**
   * True if files `NAME.d/*.conf`, here and in other places with the suffix, extend a file NAME (systemd.network(5)).
   */
  readonly dropIns?: true;
}

export interface RenderedFile {
  readonly path: string;
  readonly text: string;
  /** Permission bits: some managers refuse or warn about world-readable files, and some cannot read root-only files. */
  readonly mode: number;
}

/** Files configuring one NIC at the next boot, in write order. */
export interface RenderedNic {
  /** Files naming and setting up the NIC; without `main` they give no address. */
  readonly companions: readonly RenderedFile[];
  /** Holds the addresses; renaming this file is the commit. */
  readonly main: RenderedFile;
  /**
   * Copies under other names of all files read at boot, for a manager with several files per NIC. The manager prefers
   * these copies as soon as the last copy exists.
   */
  readonly interim?: readonly RenderedFile[];
}

/** Reversible edit for a foreign file's lines. */
interface ForeignEdit {
  /** Returns the file's text without effect on the NIC; an edited file stays as is. */
  apply(file: HostFile): string;
  /** Returns the text from before the edit; changes by users since stay. */
  undo(file: HostFile): string;
  /** Returns edited line numbers, from 1. */
  lines(text: string): number[];
}

/** How a manager decides between a foreign file and the file of an adopted NIC. */
export interface AdoptionRules {
  /** Returns the path for the file ending foreign stanzas' effect on NIC `index`. */
  path(index: number): string;
  /** True if the manager prefers foreign file `other` to our file with the name `own`. */
  precedes(other: ConfigFile, own: string): boolean;
  /** Edit for foreign files naming or configuring the NIC beside ours; absent: foreign files stay unchanged. */
  readonly edit?: ForeignEdit;
}

/** Boot configuration for a network manager's NICs. Pure: callers read and write the files. */
export interface Backend {
  readonly name: Family;
  /** Places with managed files, and possibly foreign files. */
  readonly places: readonly Place[];
  /** Place with files generated from `places` for another service; absent if the service reads `places` itself. */
  readonly generated?: Place;
  /** Name prefix of udev rules generated from the files and naming NICs; absent if `.link` files name the NICs. */
  readonly namingRules?: string;
  /** Parses a file in `places`: which NICs it configures, and whether it is managed. */
  read(file: HostFile): Promise<ConfigFile>;
  /** Returns a generated file's content from a managed file of any generation; undefined for a foreign source. */
  held(file: HostFile): OwnFile | undefined;
  /** Returns the path for the file with the addresses of NIC `index`. */
  path(index: number): string;
  render(nic: DesiredNic): RenderedNic;
  /** Present if the agent can take over foreign configuration in this manager's files. */
  readonly adoption?: AdoptionRules;
  /** Throws if the rendered text, read back, differs from the desired NIC. */
  validate(file: Pick<RenderedFile, 'path' | 'text'>, nic: DesiredNic): void;
}
