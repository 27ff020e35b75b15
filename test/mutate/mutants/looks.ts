import type { Mutant } from '../mutant.ts';

const room = 'src/operator';

/** A mutant that tests of looks at some servers have to notice. */
function mutant(file: string, find: string, replace: string, ...tests: string[]): Mutant {
  const files = tests.map((test) => `${room}/${test}.test.ts`);
  return { file: `${room}/${file}.ts`, find, replace, tests: ['unit', ...files] };
}

export const looksMutants: readonly Mutant[] = [
  mutant('looks', 'isFew && servers.every((id) => nodeNames.has(id))', 'isFew', 'hinted'),
  mutant('looks', 'isSome && !isLate', 'isSome', 'hinted'),
  mutant('looks', 'accounts ? longAgo : undefined', 'undefined', 'hinted'),
  mutant('looks', 'since === longAgo ? before :', 'false ? before :', 'hinted'),
  mutant(
    'looks',
    'if (nodeNames !== undefined) this.#open.delete(key);',
    'this.#open.delete(key);',
    'hinted',
  ),
  mutant('looks', '>= restMs', '>= 0', 'hinted'),
  mutant('looks', '!blocked.has(`node ${nodeName}`) &&', '', 'hinted'),
  mutant('looks', 'asksForWork(memory.object, object)', 'false', 'hinted'),
  mutant('doubts', 'doubtful.length + others.length > mostServers', 'false', 'doubts'),
  mutant('doubts', 'if (before.dueAt > now) return before;', '', 'hinted', 'doubts'),
  mutant('doubts', "cause === 'unconfirmed'", 'true', 'doubts'),
  mutant('recent-removals', 'at > oldest', 'true', 'hinted'),
  mutant(
    'observe/port-directory',
    'ports.some((port) => moved.has(port.id))',
    'ports.some(() => false)',
    'hinted',
  ),
  mutant('observe/port-directory', 'own.has(id)', 'true', 'hinted'),
  mutant('sync-request', ': deliveredBy(object))', ': 0)', 'hinted'),
  mutant('reconcile', 'looks.note(key, doubts.due(key));', '', 'hinted'),
  mutant('deliver/delivery-rounds', '...this.#vanished(), ', '', 'names'),
  mutant('sync', 'recentRemovals.note(view.cloud.name, toldOf);', '', 'hinted'),
  mutant(
    'sync',
    "?.status === 'False'",
    "?.status === 'Unknown'",
    'sync',
    'hinted',
    'unkind-cloud',
  ),
  mutant('observe/observe', "if (extent.scope === 'all') {", 'if (true) {', 'hinted'),
  mutant('status/status', '...doubtful.map(', '...[].map(', 'hinted'),
  mutant('looks', 'since !== undefined || isAgain', 'since !== undefined', 'hinted'),
  mutant('looks', '...(before?.hints ?? []), ...(now', '...(now', 'hinted'),
  mutant('sync', 'view.cloud.freshen(request.freshSince);', '', 'hinted'),
  mutant('sync-request', 'freshSince: force ? now :', 'freshSince: force ? undefined :', 'hinted'),
  mutant('looks', '&& servers.length <= mostAlone', '', 'hinted'),
  mutant(
    'doubts',
    'others: [], isTold',
    'others: [...(this.#doubts.get(key) ?? [])], isTold',
    'doubts',
  ),
  mutant('prove', '&& !isSettling', '', 'lagging-neutron'),
  mutant('prove', 'recentPorts.latest(read.value)', 'read.value', 'lagging-neutron'),
  mutant('prove', 'recentPorts.note(port, undefined);', '', 'lagging-neutron'),
  mutant('observe/port-directory', 'recentPorts.latest(port));', 'port);', 'lagging-neutron'),
  mutant('observe/port-directory', '!known || known.at', 'known && known.at', 'looks'),
  mutant('observe/recent-ports', "change.port.status === 'ACTIVE'", 'false', 'hinted'),
  mutant('observe/recent-ports', '< settlingMs', '< 1e9', 'lagging-neutron'),
  mutant('observe/recent-ports', '&& !isOlder(before, port)', '', 'lagging-neutron'),
  mutant('observe/recent-ports', 'at - change.at < rememberedMs', 'true', 'observe/recent-ports'),
  mutant('looks', 'nodeNames !== undefined && this.#said', 'this.#said', 'looks'),
  mutant('looks', 'isWaitedFor ? 0 :', 'false ? 0 :', 'looks'),
  mutant('sync', 'extent.hinted.servers, rounds.nodes', '[], rounds.nodes', 'looks', 'hinted'),
  mutant('hints', 'views.knows(key, hint.networks) ||', '', 'hinted'),
  mutant('hints', 'views.chooses(key, hint.projects) ||', '', 'selected-servers'),
  mutant('hints', 'views.looksAs(key, hint.accounts);', 'false;', 'hinted'),
  mutant(
    'observe/cloud-view',
    'this.#choosing.has(member) && projects',
    'projects',
    'selected-servers',
  ),
  mutant('observe/cloud-view', '&& projects.includes(projectId)', '', 'selected-servers'),
  mutant('observe/cloud-view', 'else this.#choosing.delete(member);', '', 'selected-servers'),
  mutant(
    'observe/port-directory',
    'if ([...before].some((id) => !now.has(id))) this.#forgetUnwanted();',
    '',
    'observe/port-directory',
  ),
  mutant('deliver/concern', '|| servers.has(id.toLowerCase())', '', 'deliver/viola-client'),
  mutant('deliver/concern', "typeof id !== 'string' ||", '', 'deliver/viola-client'),
  mutant(
    'deliver/concern',
    "if (typeof from?.namespace !== 'string' || typeof from.name !== 'string') return true;",
    '',
    'deliver/viola-client',
  ),
  mutant('deliver/viola-answer', 'items.filter(isConcern)', 'items', 'deliver/viola-client'),
];
