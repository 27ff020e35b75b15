import { namedSome } from '../../../api/named-some.ts';
import type { Cloud } from '../../../openstack/cloud.ts';
import type { Server } from '../../../openstack/resources.ts';
import { isRequestError } from '../../../requests/request-error.ts';
import type { Carried, ServerSelector } from '../../model/resolve/servers.ts';
import { reasonOf, type StatusProblem } from '../../model/step-failure.ts';

/** Selected servers, as far as the cloud could be read. */
export interface ChosenServers {
  readonly ids: readonly string[];
  /**
   * False if a name matches no server or several, or if servers could not be listed: then no server counts as
   * deselected.
   */
  readonly complete: boolean;
  /** Whether all servers are selected by id: only an edit of the OpenstackConfig changes the selection. */
  readonly pinned: boolean;
  readonly problems: readonly StatusProblem[];
  /** Unreadable listed servers; whether the config selects these servers is unknown. */
  readonly flaws: readonly StatusProblem[];
}

export interface ChooseOptions {
  readonly cloud: Pick<Cloud, 'projectServers' | 'softDeleted'>;
  /** Oldest acceptable list (monotonic ms; Infinity: request a new list for this sync). */
  readonly since: number;
  /** Previously selected servers; retained while Nova lists nothing. */
  readonly before: readonly string[];
}

/** Returns whether the selector names ids only: no lookup is necessary. */
export function isPinned({ names, carrying }: ServerSelector): boolean {
  return names.length === 0 && carrying === undefined;
}

/** Finds servers by name, metadata or tags, and adds the servers selected by id. */
export async function chooseServers(
  selector: ServerSelector,
  options: ChooseOptions,
  signal: AbortSignal,
): Promise<ChosenServers> {
  const { ids, names, carrying } = selector;
  if (isPinned(selector)) return { ids, complete: true, pinned: true, problems: [], flaws: [] };
  try {
    const { flawed, ...listed } = await list(selector, options, signal);
    const named = await byLiveName(names, listed.all, options.cloud, signal);
    const matching = carrying && carriers(carrying, listed);
    const none = matching?.length === 0 ? [noneMatches] : [];
    const before = flawed.filter(({ id }) => options.before.includes(id)).map(({ id }) => id);
    return {
      ids: [...new Set([...ids, ...named.ids, ...(matching ?? []), ...before])],
      complete: named.problems.length + flawed.length === 0,
      pinned: false,
      problems: [...named.problems, ...none],
      flaws: flawed.map(flawOfServer),
    };
  } catch (error) {
    signal.throwIfAborted();
    // Nova is unreachable or answers with a foreign format: keep the previous selection.
    if (!isRequestError(error)) throw error;
    const problem = { reason: reasonOf(error, 'NovaServerError'), message: error.message };
    const known = [...new Set([...ids, ...options.before])];
    return { ids: known, complete: false, pinned: false, problems: [problem], flaws: [] };
  }
}

const noneMatches: StatusProblem = {
  reason: 'ServerNotFound',
  message: 'no server of the project matches spec.vmSelector; correct the selector or the servers',
};

interface Listed {
  readonly all: readonly Server[];
  readonly tagged: readonly Server[];
  /** Servers whose selection is unknown. */
  readonly flawed: readonly Server[];
}

/** Lists the candidates. Nova filters by tags; for project members Nova does not filter by metadata. */
async function list(
  { names, carrying }: ServerSelector,
  { cloud, since }: ChooseOptions,
  signal: AbortSignal,
): Promise<Listed> {
  const tags = carrying?.tags ?? [];
  const needsAll = names.length > 0 || tags.length === 0;
  const [all, tagged] = await Promise.all([
    needsAll ? cloud.projectServers([], since, signal) : undefined,
    tags.length > 0 ? cloud.projectServers(tags, since, signal) : undefined,
  ]);
  const every = new Map([...(all ?? []), ...(tagged ?? [])]);
  const readable = (servers: typeof all) => [...(servers?.values() ?? [])].filter(isReadable);
  const flawed = [...every.values()].filter((server) => !isReadable(server));
  return { all: readable(all), tagged: readable(tagged), flawed };
}

function isReadable({ flaw }: Server): boolean {
  return flaw === undefined;
}

/** Returns the problem for a server with an unreadable field. */
export function flawOfServer({ id, flaw = '' }: Server): StatusProblem {
  const message = `server ${id} cannot be read and stays unchanged: ${flaw}`;
  return { reason: 'NovaServerError', message };
}

/** Finds servers by name; a soft-deleted server keeps its name until a live server uses the name. */
async function byLiveName(
  names: readonly string[],
  live: readonly Server[],
  cloud: Pick<Cloud, 'softDeleted'>,
  signal: AbortSignal,
): Promise<ReturnType<typeof byName>> {
  const used = new Set(live.map(({ name }) => name));
  const unused = names.filter((name) => !used.has(name));
  const soft = unused.length > 0 ? await cloud.softDeleted(signal) : new Map<string, Server>();
  const hidden = [...soft.values()].filter(
    (server) => isReadable(server) && !used.has(server.name),
  );
  return byName(names, [...live, ...hidden]);
}

function byName(names: readonly string[], servers: readonly Server[]) {
  const byExactName = Map.groupBy(servers, ({ name }) => name);
  const ids: string[] = [];
  const problems: StatusProblem[] = [];
  for (const name of names) {
    const found = byExactName.get(name) ?? [];
    const [only, another] = found;
    if (only === undefined) problems.push(unknownName(name));
    else if (another === undefined) ids.push(only.id);
    else problems.push(ambiguousName(name, found));
  }
  return { ids, problems };
}

function unknownName(name: string): StatusProblem {
  const message = `no server of the project is named "${name}" (spec.vmNames); correct the name, or remove it`;
  return { reason: 'ServerNotFound', message };
}

const shownServers = 5;

function ambiguousName(name: string, servers: readonly Server[]): StatusProblem {
  const ids = servers.map(({ id }) => id).toSorted();
  const message = `${ids.length} servers are named "${name}" (spec.vmNames): ${namedSome(ids, shownServers)}; use the id of the server instead`;
  return { reason: 'ServerNotUnique', message };
}

function carriers(
  { metadata, tags }: Carried,
  { all, tagged }: Omit<Listed, 'flawed'>,
): readonly string[] {
  const servers = tags.length > 0 ? tagged : all;
  return servers.filter((server) => hasMetadata(server, metadata)).map(({ id }) => id);
}

/** Returns whether a server carries all of this metadata. */
export function hasMetadata(
  server: Pick<Server, 'metadata'>,
  wanted: Carried['metadata'],
): boolean {
  return Object.entries(wanted).every(
    ([key, value]) => Object.hasOwn(server.metadata, key) && server.metadata[key] === value,
  );
}
