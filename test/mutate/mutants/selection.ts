import type { Mutant } from '../mutant.ts';

const room = 'src/operator';

function mutant(file: string, find: string, replace: string, ...tests: string[]): Mutant {
  return { file, find, replace, tests: ['unit', ...tests] };
}

const chosen = `${room}/observe/servers.test.ts`;
const evidence = `${room}/server-evidence.test.ts`;
const scene = `${room}/selected-servers.test.ts`;
const selector = `${room}/resolve/servers.test.ts`;
const lists = 'src/openstack/server-lists.test.ts';
const contract = 'test/contract/cloud/simulated.test.ts';

/** Which servers an OpenstackConfig selects, and what proves that one left. */
export const selectionMutants: readonly Mutant[] = [
  mutant(
    `${room}/observe/servers.ts`,
    'const none = matching?.length === 0 ? [noneMatches] : [];',
    'const none: Trouble[] = [];',
    chosen,
  ),
  mutant(
    `${room}/observe/servers.ts`,
    'complete: named.troubles.length === 0,',
    'complete: true,',
    chosen,
    scene,
  ),
  mutant(
    `${room}/observe/servers.ts`,
    '[...new Set([...ids, ...options.before])]',
    'ids',
    chosen,
    scene,
  ),
  mutant(
    `${room}/observe/servers.ts`,
    'return { ids: known, complete: false,',
    'return { ids: known, complete: true,',
    chosen,
    scene,
  ),
  mutant(
    `${room}/observe/servers.ts`,
    'else if (another === undefined) ids.push(only.id);',
    'else if (another === undefined || true) ids.push(only.id);',
    chosen,
  ),
  mutant(
    `${room}/observe/servers.ts`,
    'Object.hasOwn(server.metadata, key) && server.metadata[key] === value',
    'key in server.metadata',
    chosen,
  ),
  mutant(
    `${room}/observe/servers.ts`,
    'const needsAll = names.length > 0 || tags.length === 0;',
    'const needsAll = true;',
    chosen,
  ),
  mutant(`${room}/observe/servers.ts`, 'signal.throwIfAborted();', '', chosen),
  mutant(
    `${room}/observe/observe.ts`,
    "if (extent.scope === 'all' || isPinned(config.servers)) {",
    'if (true) {',
    scene,
  ),
  mutant(
    `${room}/server-evidence.ts`,
    "if (server === 'unknown') return 'unconfirmed';",
    "if (server === 'unknown') return 'deleted';",
    evidence,
  ),
  mutant(`${room}/server-evidence.ts`, ' || names.includes(server.name)', '', evidence, scene),
  mutant(
    `${room}/server-evidence.ts`,
    "if (carrying.tags.length === 0) return 'selected';",
    "return 'selected';",
    evidence,
  ),
  mutant(
    `${room}/server-evidence.ts`,
    'if (serversSeen.sawOwn(serverId))',
    'if (true)',
    evidence,
    `${room}/prove.test.ts`,
  ),
  mutant(`${room}/server-evidence.ts`, 'complete = false;', '', evidence),
  mutant(`${room}/server-evidence.ts`, 'ports.length === 0 || ', 'true || ', evidence),
  mutant(
    `${room}/server-evidence.ts`,
    ' || (await cloud.wasDeleted(serverId, signal));',
    ';',
    evidence,
  ),
  mutant(
    `${room}/server-evidence.ts`,
    'let complete = serverIds.length <= serversPerSync;',
    'let complete = true;',
    evidence,
  ),
  mutant(
    `${room}/prove.ts`,
    'const evidenceComplete = complete && servers.complete;',
    'const evidenceComplete = complete;',
    scene,
  ),
  mutant(
    `${room}/prove.ts`,
    'pinned: { servers: servers.pinned,',
    'pinned: { servers: true,',
    scene,
  ),
  mutant(`${room}/prove.ts`, 'serversComplete: servers.complete,', 'serversComplete: true,', scene),
  mutant(
    `${room}/sync-request.ts`,
    'Math.max(now - serversMs, extent.since ?? Number.NEGATIVE_INFINITY)',
    'now - serversMs',
    scene,
  ),
  mutant(
    `${room}/status/status.ts`,
    '...look.troubles.filter((trouble) => !isSaid(trouble, servers.troubles)),',
    '...look.troubles,',
    scene,
  ),
  mutant(
    `${room}/status/status.ts`,
    'const read = [...subnets.troubles, ...servers.troubles, ...look.troubles];',
    'const read = [...subnets.troubles, ...look.troubles];',
    scene,
  ),
  mutant(`${room}/sync.ts`, 'subnetsComplete && serversComplete;', 'subnetsComplete;', scene),
  mutant(`${room}/resolve/servers.ts`, '.map((id) => id.toLowerCase())', '', selector),
  mutant(
    `${room}/resolve/servers.ts`,
    'if (Object.keys(metadata).length + tags.length === 0) {',
    'if (Object.keys(metadata).length + tags.length < 0) {',
    selector,
  ),
  mutant('src/openstack/server-lists.ts', 'known.at >= since', 'known.at > since - 1e9', lists),
  mutant(
    'src/openstack/server-lists.ts',
    'if (this.#lists.get(key) === list) this.#lists.delete(key);',
    '',
    lists,
  ),
  mutant('src/openstack/server-lists.ts', '.toSorted()', '', lists),
  mutant(
    'src/openstack/nova.ts',
    'readPages(client, { ...listing, query, headers: tagHeaders }, signal)',
    'readPages(client, { ...listing, query }, signal)',
    contract,
  ),
];
